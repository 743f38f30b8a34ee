"""Compares every #include under src/ with the arrows in cmake/modules.cmake.

A module may include itself and what its row names; nothing else of ours. Quoted includes are ours and are written
from src/ ("wire/packet.h"), so a quoted include that names no module is an error too.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("MRC_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
SOURCES = {".h", ".cc", ".c", ".hpp"}


def read_arrows(text):
    rows = re.findall(r'^\s*"(\w+):([^"]*)"', text, re.MULTILINE)
    return {module: set(allowed.split()) for module, allowed in rows}


def cycles(arrows):
    """Modules that can reach themselves."""
    def reach(module, seen):
        for other in arrows.get(module, ()):
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen
    return sorted(m for m in arrows if m in reach(m, set()))


def complaint(module, include, arrows, folder):
    """Why `module` may not include `include`, or None."""
    target, slash, _ = include.partition("/")
    if not slash or target not in arrows:
        # A module's private folder (src/lib/include, say) may name its own files plainly.
        return None if (folder / include).exists() else f'"{include}" names no module; write it from src/'
    if target == module or target in arrows[module]:
        return None
    return f'{module} may not include {target} ("{include}")'


def check_tree(src, arrows):
    found = []
    for path in sorted(p for p in src.rglob("*") if p.suffix in SOURCES):
        module = path.relative_to(src).parts[0]
        if module not in arrows:
            found.append(f"{path}: {module} is no module of cmake/modules.cmake")
            continue
        for include in INCLUDE.findall(path.read_text(errors="replace")):
            why = complaint(module, include, arrows, path.parent)
            if why:
                found.append(f"{path.relative_to(src.parent)}: {why}")
    return found


def self_check():
    """The machinery must see what it looks for."""
    arrows = read_arrows('set(X\n  "base:"\n  "wire: base"\n)')
    assert arrows == {"base": set(), "wire": {"base"}}, arrows
    here = pathlib.Path(__file__).parent
    assert complaint("wire", "base/ids.h", arrows, here) is None
    assert complaint("base", "wire/packet.h", arrows, here)
    assert complaint("base", "nonsense/x.h", arrows, here)
    assert cycles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == ["a", "b"]


def main():
    self_check()
    arrows = read_arrows((ROOT / "cmake/modules.cmake").read_text())
    found = check_tree(ROOT / "src", arrows)
    found += [f"cmake/modules.cmake: {m} depends on itself" for m in cycles(arrows)]
    found += [f"cmake/modules.cmake: {m} names unknown {sorted(d - arrows.keys())}"
              for m, d in arrows.items() if d - arrows.keys()]
    print("\n".join(found) or f"{len(arrows)} modules, every #include follows an arrow")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
