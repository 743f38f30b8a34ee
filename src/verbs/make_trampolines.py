#!/usr/bin/env python3
"""Turns trampolines.txt into assembly (one jump each, with its symbol version) and a table of names for C++.

usage: make_trampolines.py trampolines.txt OUT.S OUT.inc
"""
import errno
import sys

PREAMBLE = """\
/* Made from trampolines.txt: a jump to the function of the real libibverbs, or a constant without it. */
#if defined(__x86_64__)
.macro TRAMPOLINE symbol, index, otherwise
  .globl \\symbol
  .type \\symbol, @function
\\symbol:
  endbr64
  movq mrc_trampoline_targets@GOTPCREL(%rip), %r11
  movq 8*\\index(%r11), %r11
  testq %r11, %r11
  jz 1f
  jmp *%r11
1: movl $\\otherwise, %eax
  ret
  .size \\symbol, . - \\symbol
.endm
#elif defined(__aarch64__)
.macro TRAMPOLINE symbol, index, otherwise
  .globl \\symbol
  .type \\symbol, %function
\\symbol:
  adrp x16, :got:mrc_trampoline_targets
  ldr x16, [x16, :got_lo12:mrc_trampoline_targets]
  ldr x16, [x16, #8*\\index]
  cbz x16, 1f
  br x16
1: mov x0, #\\otherwise
  ret
  .size \\symbol, . - \\symbol
.endm
#else
#error "write the jump of this processor: see make_trampolines.py"
#endif
.text
"""
POSTAMBLE = '.section .note.GNU-stack,"",%progbits\n'


def read(path):
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            name, version, otherwise = line.split()
            yield name, version, getattr(errno, otherwise) if otherwise.startswith("E") else int(otherwise)


def main(source, assembly, table):
    entries = list(read(source))
    with open(assembly, "w") as s, open(table, "w") as inc:
        s.write(PREAMBLE)
        for index, (name, version, otherwise) in enumerate(entries):
            local = f"mrc_trampoline_{index}"
            s.write(f"TRAMPOLINE {local}, {index}, {otherwise}\n")
            # "@@" would make it the version that new programs link against; old interfaces and aliases must not be.
            s.write(f".symver {local}, {name}@{version}, remove\n")
            inc.write(f'MRC_TRAMPOLINE({name}, "{version}")\n')
        s.write(POSTAMBLE)


if __name__ == "__main__":
    main(*sys.argv[1:])
