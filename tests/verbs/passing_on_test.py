#!/usr/bin/env python3
"""Beside real RDMA devices: their objects go to rdma-core's own library. A fake one stands in for it.

Also: every versioned symbol of Debian's libibverbs is in ours, so that provider libraries and librdmacm load.
"""
import ctypes
import os
import subprocess
import sys
import unittest

OURS = os.environ["IBVERBS"]
FAKE = os.environ["FAKE_IBVERBS"]
DEBIAN = "/usr/lib/x86_64-linux-gnu/libibverbs.so.1"
LEFT_OUT = {"ibv_register_driver@IBVERBS_1.1"}  # providers of before 2009


class Device(ctypes.Structure):
    _fields_ = [("ops", ctypes.c_void_p * 2), ("node_type", ctypes.c_int), ("transport", ctypes.c_int),
                ("name", ctypes.c_char * 64)]


def in_child():
    """Runs in a process whose environment names the fake library."""
    verbs = ctypes.CDLL(OURS)
    verbs.verbs_register_driver_34(ctypes.c_void_p(1))  # a provider that was loaded before anyone asked for devices
    verbs.ibv_get_device_list.restype = ctypes.POINTER(ctypes.POINTER(Device))
    verbs.ibv_get_device_guid.restype = ctypes.c_uint64
    for name in ("ibv_open_device", "ibv_alloc_pd"):
        getattr(verbs, name).restype = ctypes.c_void_p
    count = ctypes.c_int()
    devices = verbs.ibv_get_device_list(ctypes.byref(count))
    names = [devices[i].contents.name.decode() for i in range(count.value)]
    print("devices", *names)
    fake = devices[names.index("fake0")]
    print("guid", verbs.ibv_get_device_guid(fake))
    context = ctypes.c_void_p(verbs.ibv_open_device(fake))
    attributes = (ctypes.c_char * 512)()
    verbs.ibv_query_device(context, attributes)
    words = [int.from_bytes(attributes[i:i + 4], "little") for i in range(0, 256, 4)]
    print("max_qp", 4711 in words)
    pd = ctypes.c_void_p(verbs.ibv_alloc_pd(context))
    print("dealloc", verbs.ibv_dealloc_pd(pd))
    libc = ctypes.CDLL(None)
    libc.dlvsym.restype = ctypes.c_void_p
    jump = libc.dlvsym(ctypes.c_void_p(verbs._handle), b"ibv_cmd_alloc_pd", b"IBVERBS_PRIVATE_34")
    print("private", ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_long] * 7)(jump)(1, 2, 3, 4, 5, 6, 7))
    print("close", verbs.ibv_close_device(context))
    verbs.ibv_free_device_list(devices)


def run_child(**environment):
    environment = {**os.environ, "MRC_DEVICES": "lo", "PYTHONUNBUFFERED": "1", **environment}
    done = subprocess.run([sys.executable, __file__, "child"], env=environment, capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout, done.stderr


def symbols(path):
    """name@version of what the library defines."""
    text = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    found = {line.split()[2].replace("@@", "@") for line in text.splitlines()}
    return {name for name in found if "@IBVERBS" in name}


class PassingOn(unittest.TestCase):
    def test_objects_of_a_real_device_reach_the_real_library(self):
        code, out, err = run_child(MRC_REAL_VERBS=FAKE)
        self.assertEqual(code, 0, out + err)
        self.assertIn("devices mrc0 fake0", out)
        self.assertIn(f"guid {0x1234}", out)
        self.assertIn("max_qp True", out)
        self.assertIn("private 7654321", out)
        self.assertIn("close 0", out)
        for trace in ("fake: provider 1", "fake: closed", "fake: list freed"):
            self.assertIn(trace, out)

    def test_debians_library_loads_beside_ours(self):
        if not os.path.exists(DEBIAN):
            self.skipTest("rdma-core's library is not installed")
        script = (f"import ctypes; v = ctypes.CDLL({OURS!r}); n = ctypes.c_int(); "
                  "v.ibv_get_device_list.restype = ctypes.c_void_p; "
                  "l = v.ibv_get_device_list(ctypes.byref(n)); v.ibv_free_device_list(ctypes.c_void_p(l)); print(n.value)")
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
                              env={**os.environ, "MRC_DEVICES": "lo;lo/127.0.0.2", "MRC_REAL_VERBS": DEBIAN})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreaterEqual(int(done.stdout), 2)

    def test_every_symbol_of_debians_library_is_here(self):
        if not os.path.exists(DEBIAN):
            self.skipTest("rdma-core's library is not installed")
        self.assertEqual(symbols(DEBIAN) - symbols(OURS), LEFT_OUT)


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        in_child()
    else:
        unittest.main()
