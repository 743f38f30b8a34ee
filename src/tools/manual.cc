// `mrc manual`: man pages and shell completion, made of the very text that --help prints.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "tools/commands.h"
#include "tools/plain_help.h"

namespace mrc::tools {
namespace {

namespace fs = std::filesystem;

std::vector<const CLI::App*> children(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* child) { return !child->get_name().empty(); });
}

std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

/// roff takes a leading dot or quote for a request, and a backslash for an escape.
std::string roff(const std::string& text) {
  std::string out;
  bool fresh = true;
  for (const char c : text) {
    if (fresh && (c == '.' || c == '\'')) out += "\\&";
    fresh = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

void write_options(const CLI::App& app, std::ostream& out) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name(option->get_positional(), true);
    out << ".TP\n.B " << roff(name) << "\n";
    const std::string type = option->get_type_size() > 0 ? plain_type(option->get_type_name()) : "";
    if (!type.empty()) out << ".RI ( " << roff(type) << " )\n";
    out << roff(option->get_description()) << "\n";
  }
}

void write_page(const CLI::App& app, std::ostream& out) {
  std::string title = path_of(app);
  std::replace(title.begin(), title.end(), ' ', '-');
  out << ".TH " << title << " 1 \"\" \"OpenMRC " << MRC_VERSION << "\"\n.SH NAME\n"
      << roff(title + " - " + app.get_description()) << "\n.SH SYNOPSIS\n.B " << roff(path_of(app))
      << (children(app).empty() ? "\n[options]\n" : "\nVERB [options]\n") << ".SH OPTIONS\n";
  write_options(app, out);
  for (const CLI::App* verb : children(app)) {
    out << ".SH " << roff(path_of(*verb)) << "\n" << roff(verb->get_description()) << "\n";
    if (app.get_parent() != nullptr) write_options(*verb, out);
  }
  if (!app.get_footer().empty()) out << ".SH EXAMPLES\n.nf\n" << roff(app.get_footer()) << "\n.fi\n";
  out << ".SH EXIT STATUS\n0: done. 1: failed, with a sentence on standard error. 2: wrong usage.\n";
}

int write_pages(const CLI::App& root, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  std::vector<const CLI::App*> all = children(root);
  all.push_back(&root);
  for (const CLI::App* app : all) {
    std::string name = path_of(*app);
    std::replace(name.begin(), name.end(), ' ', '-');
    std::ofstream out(fs::path(folder) / (name + ".1"));
    write_page(*app, out);
    if (out.flush()) continue;
    std::fprintf(stderr, "mrc manual: cannot write to %s: %s\n", folder.c_str(), std::strerror(errno));
    return 1;
  }
  return 0;
}

/// One word list per noun and verb; which list counts follows from the words before the cursor.
void write_words(const CLI::App& app, std::ostream& out) {
  out << "  [\"" << path_of(app) << "\"]=\"";
  for (const CLI::App* child : children(app)) out << child->get_name() << " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out << "--" << name << " ";
  }
  out << "\"\n";
  for (const CLI::App* child : children(app)) write_words(*child, out);
}

int write_completion(const CLI::App& root, const std::string& shell) {
  std::ostringstream out;
  if (shell == "zsh") out << "autoload -U +X bashcompinit && bashcompinit\n";
  out << "declare -A _mrc_words=(\n";
  write_words(root, out);
  out << ")\n"
         "_mrc() {\n"
         "  local path=mrc word\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    [[ -n \"${_mrc_words[\"$path $word\"]}\" ]] && path=\"$path $word\"\n"
         "  done\n"
         "  COMPREPLY=($(compgen -W \"${_mrc_words[\"$path\"]}\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o default -F _mrc mrc\n";
  std::fputs(out.str().c_str(), stdout);
  return 0;
}

}  // namespace

Run manual(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  auto shell = std::make_shared<std::string>("bash");
  app.require_subcommand(1);
  CLI::App* man = app.add_subcommand("man", "man pages, one for each noun");
  man->add_option("--to", *folder, "where to put them")->required()->type_name("FOLDER");
  man->footer("Example: mrc manual man --to ~/.local/share/man/man1");
  CLI::App* completion =
      app.add_subcommand("completion", "what a shell needs to complete nouns, verbs and options");
  completion->add_option("shell", *shell, "whose")->check(CLI::IsMember({"bash", "zsh"}));
  completion->footer("Example: mrc manual completion bash > ~/.local/share/bash-completion/completions/mrc");
  app.footer(
      "Example: mrc manual man --to ~/.local/share/man/man1\n"
      "         source <(mrc manual completion bash)");
  return [&app, man, folder, shell] {
    const CLI::App& root = *app.get_parent();
    return man->parsed() ? write_pages(root, *folder) : write_completion(root, *shell);
  };
}

}  // namespace mrc::tools
