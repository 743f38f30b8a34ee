// `mrc top`: a node, a fabric or a recording in a terminal.
#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <memory>
#include <thread>

#include "tools/commands.h"
#include "tools/real_range.h"
#include "tools/terminal.h"
#include "tools/top_source.h"

namespace mrc::tools {
namespace {

using std::chrono::milliseconds;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "mrc top: %s\n", sentence.c_str());
  return 1;
}

std::atomic<bool> stop_now{false};
constexpr milliseconds kLeastBetween{100};  // whatever happens

void print(const TopPicture& picture) {
  const TopLook look{.rows = static_cast<int>(picture.qps.size() + picture.lanes.size()) * 2 + 40,
                     .colour = false};
  for (const std::string& line : draw(picture, look)) {
    if (!line.empty() && line.find("q quit") == std::string::npos) std::printf("%s\n", line.c_str());
  }
}

/// Without a terminal: a picture after each interval, as text. A source that has nothing new is late, or has
/// not begun: only one that is over ends it.
int print_all(TopSource& source, const TopOptions& o) {
  constexpr milliseconds kLookAgain{10};
  TopPicture picture;
  while (!stop_now) {
    auto fresh = source.refresh(picture);
    if (!fresh) return fail(fresh.error().what);
    if (!*fresh && source.over()) return 0;
    if (!*fresh) {
      std::this_thread::sleep_for(kLookAgain);
      continue;
    }
    if (o.once) {
      std::this_thread::sleep_for(source.settles());
      if (fresh = source.refresh(picture); !fresh) return fail(fresh.error().what);
    }
    o.json ? static_cast<void>(std::printf("%s\n", source.json().c_str())) : print(picture);
    std::fflush(stdout);
    if (o.once) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(o.every));
  }
  return 0;
}

class Screen {
 public:
  Screen(TopSource& source, const TopOptions& options) : source_(source), options_(options) {}

  int run() {
    auto next = std::chrono::steady_clock::now();
    while (!stop_now) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= next) {
        if (!look_.frozen) {
          if (auto fresh = source_.refresh(picture_); !fresh) {
            problem_ = fresh.error().what;
            return 1;
          }
        }
        next = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(options_.every));
      }
      look_.columns = terminal_.columns();
      look_.rows = terminal_.rows();
      terminal_.show(draw(picture_, look_));
      const auto wait = std::chrono::duration_cast<milliseconds>(next - std::chrono::steady_clock::now());
      const int news = look_.frozen ? -1 : source_.news();
      const int key = terminal_.wait_key(std::max(wait, milliseconds(0)), news);
      if (key == static_cast<int>(Key::news)) next = std::min(next, now + kLeastBetween), settle(now);
      if (!obey(key)) return 0;
    }
    return 0;
  }
  const std::string& problem() const { return problem_; }

 private:
  /// Events come in crowds: what follows the first one is in the same picture.
  static void settle(std::chrono::steady_clock::time_point since) {
    std::this_thread::sleep_until(since + kLeastBetween);
  }
  bool obey(int key) {
    if (look_.typing) return type(key), true;
    TopOrder& order = look_.order;
    switch (key) {
      case 'q': return false;
      case 'f':
      case ' ': look_.frozen = !look_.frozen; break;
      case 's': order.by = static_cast<TopOrder::By>((static_cast<int>(order.by) + 1) % 6); break;
      case 'r': order.reverse = !order.reverse; break;
      case '/': look_.typing = true, order.filter.clear(); break;
      case static_cast<int>(Key::escape): order.filter.clear(); break;
      case static_cast<int>(Key::up): look_.chosen -= look_.chosen > 0; break;
      case static_cast<int>(Key::down):
        look_.chosen += look_.chosen + 1 < ordered(picture_, order).size();
        break;
      default: break;
    }
    return true;
  }
  void type(int key) {
    std::string& filter = look_.order.filter;
    if (key == static_cast<int>(Key::enter)) look_.typing = false;
    if (key == static_cast<int>(Key::escape)) look_.typing = false, filter.clear();
    if (key == static_cast<int>(Key::backspace) && !filter.empty()) filter.pop_back();
    if (key >= 32 && key < 127) filter += static_cast<char>(key);
    look_.chosen = 0;
  }

  TopSource& source_;
  const TopOptions& options_;
  Terminal terminal_;
  TopPicture picture_;
  TopLook look_;
  std::string problem_;
};

int top_run(const TopOptions& o) {
  auto source = open_top_source(o);
  if (!source) return fail(source.error().what);
  const auto stop = [](int) { stop_now = true; };
  std::signal(SIGINT, stop);
  std::signal(SIGTERM, stop);
  if (o.once || o.json || !Terminal::is_there()) return print_all(**source, o);
  int status = 0;
  std::string problem;
  {
    Screen screen(**source, o);
    status = screen.run();
    problem = screen.problem();
  }
  return problem.empty() ? status : fail(problem);
}

}  // namespace

Run top(CLI::App& app) {
  auto o = std::make_shared<TopOptions>();
  app.add_option("scenario", o->scenario, "simulate this scenario and show it; or show this recording");
  app.add_option("--trace", o->recording, "show a recording, a frame per interval")->excludes("scenario");
  app.add_option("--socket", o->socket, "of this node's mrcd; none: the usual one")->excludes("scenario");
  app.add_option("--lab", o->lab, "show a running lab, as `mrc lab up` names it")
      ->excludes("scenario", "--trace", "--socket");
  app.add_option("--every", o->every, "seconds between two pictures")
      ->check(real_range(0.1, 3600.0))
      ->capture_default_str();
  app.add_flag("--once", o->once, "one picture, as text");
  app.add_flag("--json", o->json, "each picture as one line of JSON");
  app.footer(
      "Example: mrc top share/scenarios/watch.toml\n"
      "Without arguments it shows this node, as its mrcd tells. Keys: q quit, f freeze, s sort, r reverse, / "
      "filter, arrows choose a queue pair.");
  return [o] { return top_run(*o); };
}

}  // namespace mrc::tools
