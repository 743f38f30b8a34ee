#!/usr/bin/env python3
"""Compares include/*.h with spec/abi.json: every size, alignment, offset, enum value and prototype, both ways.

A program of assertions is generated from the table and compiled as C11 and C++, for clients of each API version.
usage: headers_test.py SOURCE_DIR CC CXX
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, CC, CXX = sys.argv[1:4] if len(sys.argv) > 3 else (os.path.join(os.path.dirname(__file__), "../.."), "cc", "c++")
INCLUDE = os.path.join(ROOT, "include")
with open(os.path.join(ROOT, "spec/abi.json")) as table:
    ABI = json.load(table)
WARNINGS = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
C11 = [CC, "-std=c11", "-xc", *WARNINGS]
CXX11 = [CXX, "-std=c++11", "-xc++", *WARNINGS]
CXX20 = [CXX, "-std=c++20", "-xc++", *WARNINGS]
V100 = ["-DMRC_API_VER_USED=MRC_API_VER(1,0,0)", "-DMRC_CTL_API_VER_USED=MRC_CTL_API_VER(1,0,0)"]
SINCE_101 = {"mrc_query_device_ex", "mrc_ctl_query_device_ex"}
PREAMBLE = """#include <stddef.h>
#include <mrc.h>
#include <mrc_ctl.h>
#ifdef __cplusplus
#include <type_traits>
#define CHECK(x) static_assert(x, #x)
#define ALIGNOF alignof
#else
#define CHECK(x) _Static_assert(x, #x)
#define ALIGNOF _Alignof
#endif
"""
CONCRETE = re.compile(r"^(struct|union)$")  # an unnamed aggregate: only its members have types


def abi_of_100():
    """The 1.0.0 client's table: without the two functions and the one field that came with 1.0.1."""
    abi = copy.deepcopy(ABI)
    for name in SINCE_101:
        del abi["functions"][name]
    event = abi["structs"]["mrc_ctl_ev_event"]
    event["fields"] = [f for f in event["fields"] if f["name"] != "state"]
    event["size"] = 48
    return abi


def struct_checks(name, struct):
    tag = f"struct {name}"
    yield f"CHECK(sizeof({tag}) == {struct['size']});"
    yield f"CHECK(ALIGNOF({tag}) == {struct['align']});"
    for field in struct["fields"]:
        path, kind = field["name"], field["type"]
        yield f"CHECK(offsetof({tag}, {path}) == {field['offset']});"
        yield f"CHECK(sizeof((({tag} *)0)->{path}) == {field['size']});"
        if not CONCRETE.match(kind):
            array = re.match(r"(.*)\[(\d+)\]$", kind)
            declared = f"{array[1]} (*p)[{array[2]}]" if array else f"{kind} *p"
            yield f"void of_{name}_{path.replace('.', '_')}({tag} *s);"
            yield f"void of_{name}_{path.replace('.', '_')}({tag} *s) {{ {declared} = &s->{path}; (void)p; }}"


def prototype_check(name, function):
    params = ", ".join(kind for kind, _ in function["params"])
    yield f"extern {function['returns']} (*p_{name})({params});"
    yield f"{function['returns']} (*p_{name})({params}) = {name};"


def program(abi):
    lines = [PREAMBLE]
    for name, value in abi["constants"].items():
        if isinstance(value, int):
            lines.append(f"CHECK({name} == {value});")
    for name, struct in abi["structs"].items():
        lines += struct_checks(name, struct)
    for name, enum in abi["enums"].items():
        lines.append(f"CHECK(sizeof(enum {name}) == 4);")
        for enumerator, value in enum["values"].items():
            literal = "(-2147483647 - 1)" if value == -2**31 else str(value)
            lines.append(f"CHECK((int){enumerator} == {literal});")
    for name, function in abi["functions"].items():
        lines += prototype_check(name, function)
    return "\n".join(lines) + "\n"


def build(compiler, source, flags=()):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "client.c")
        with open(path, "w") as f:
            f.write(source + "\n")
        return subprocess.run([*compiler, *flags, f"-I{INCLUDE}", "-c", path, "-o", os.path.join(folder, "client.o")],
                              capture_output=True, text=True)


class Headers(unittest.TestCase):
    def compiles(self, compiler, source, flags=()):
        done = build(compiler, source, flags)
        self.assertEqual(done.returncode, 0, done.stderr[:4000])

    def refused(self, compiler, source, flags=(), saying=""):
        done = build(compiler, source, flags)
        self.assertNotEqual(done.returncode, 0, "compiled, but must not")
        self.assertIn(saying, done.stderr)

    def test_current_client(self):  # MRC-API-001
        for compiler in (C11, CXX11, CXX20):
            self.compiles(compiler, program(ABI))

    def test_client_of_1_0_0(self):  # MRC-API-002
        for compiler in (C11, CXX20):
            self.compiles(compiler, program(abi_of_100()), V100)
            for name in SINCE_101:
                self.refused(compiler, PREAMBLE + f"void *p(void) {{ return (void *){name}; }}", V100, name)
            self.refused(compiler, PREAMBLE + "CHECK(sizeof(((struct mrc_ctl_ev_event *)0)->state));", V100, "state")

    def test_versions(self):  # MRC-API-002
        lines = [PREAMBLE]
        for prefix in ("MRC", "MRC_CTL"):
            lines += [f"CHECK({prefix}_API_CURRENT_VERSION == 0x01000001);",
                      f"CHECK({prefix}_API_VER_USED == 0x01000001);",
                      f"CHECK({prefix}_API_VER(1, 2, 3) == 0x01020003);",
                      f"CHECK({prefix}_VENDOR_API_CURRENT_VERSION == 0x01000000);",
                      f"CHECK({prefix}_API_VER_LATEST == 0xFFFFFFFF);"]
        source = "\n".join(lines)
        self.compiles(C11, source)
        self.compiles(C11, source, ["-DMRC_API_VER_USED=MRC_API_VER_LATEST",
                                    "-DMRC_CTL_API_VER_USED=MRC_CTL_API_VER_LATEST"])

    def test_newer_than_current_is_an_error(self):  # MRC-API-002
        for name in ("MRC_API_VER", "MRC_CTL_API_VER"):
            for newer in ("(1,0,2)", "(1,1,0)", "(2,0,0)"):
                self.refused(C11, PREAMBLE, [f"-D{name}_USED={name}{newer}"], "newer than this header")

    def test_older_name_of_the_device_attributes(self):  # MRC-API-003
        source = PREAMBLE + """
        int old_client(struct ibv_context *c);
        int old_client(struct ibv_context *c) { struct mrc_attr attr; int s; return mrc_query_device(c, &attr, &s); }
        """
        self.compiles(C11, source)
        self.compiles(CXX11, source)

    def test_each_header_stands_alone(self):
        for header in ("mrc.h", "mrc_ctl.h", "mrc_api_ver.h", "mrc_ctl_api_ver.h"):
            for compiler in (C11, CXX11):
                self.compiles(compiler, f"#include <{header}>\ntypedef int not_empty;\n")

    def test_unpopulated_can_be_assigned(self):
        source = PREAMBLE + """
        int port(void);
        int port(void) { struct mrc_ctl_ev ev; ev = MRC_CTL_EV_UNPOPULATED; return ev.port; }
        """
        self.compiles(C11, source)
        self.compiles(CXX11, source)

    def test_headers_declare_nothing_else(self):
        text = ""
        for header in ("mrc.h", "mrc_ctl.h"):
            with open(os.path.join(INCLUDE, header)) as f:
                text += f.read()
        code = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.assertEqual(set(re.findall(r"\b(mrc_\w+)\(", code)), set(ABI["functions"]))
        self.assertEqual(set(re.findall(r"^  (MRC_\w+) =", code, flags=re.M)),
                         {e for enum in ABI["enums"].values() for e in enum["values"]})
        self.assertEqual(set(re.findall(r"^struct (\w+) \{", code, flags=re.M)), set(ABI["structs"]))

    def test_the_comparison_sees_a_wrong_table(self):
        """The canary: each kind of difference, planted in the table, must be refused."""
        def plant(change):
            abi = copy.deepcopy(ABI)
            change(abi)
            self.refused(C11, program(abi))
        plant(lambda a: a["structs"]["mrc_qp_attr"].update(size=168))
        plant(lambda a: a["structs"]["mrc_qp_attr"]["fields"][1].update(offset=1))
        plant(lambda a: a["structs"]["mrc_ctl_ep_rsp"]["fields"][2].update(type="int"))
        plant(lambda a: a["enums"]["mrc_qp_cap"]["values"].update(MRC_QP_CAP_DYNAMIC_MPR=4))
        plant(lambda a: a["functions"]["mrc_get_qpn"]["params"][1].__setitem__(0, "uint64_t *"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
