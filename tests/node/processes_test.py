#!/usr/bin/env python3
"""A node of real processes: mrcd, a controller, applications; killed, restarted, unprivileged, badly behaved."""
import json
import os
import signal
import socket
import subprocess
import unittest

from node_case import MRC, MRCD, PROFILES, SECONDS, NodeCase


class Node(NodeCase):
    def profiles(self):
        return {(p["kind"], p["id"]): p for p in self.json("profiles", "list")["profiles"]}

    def test_a_profile_serves_another_process(self):  # MRC-NODE-001
        self.create_profiles()
        application = self.start_application(1, 3)
        self.more_writes(application)
        self.assertEqual(self.profiles()["ev", 1]["qps"], 2)
        self.assertEqual(self.profiles()["cc", 3]["qps"], 2)
        self.assertIn("in use", self.ctl("profiles", "delete", "ev", "1", wrong=True))
        self.assertIn("is there already", self.ctl("profiles", "create", str(self.folder / "profiles.toml"), wrong=True))
        snapshot = self.json("snapshot", "--evs")
        process = next(p for p in snapshot["processes"] if p["pid"] == application.pid)
        self.assertEqual(sorted(ev["ev"] for ev in process["qps"][0]["evs"]), [0xee48, 0xee49, 0xee4a])
        sender = max(process["qps"], key=lambda qp: qp["tx_packets"])
        self.assertGreater(sender["rtt_ns"], 0)
        self.end(application)
        self.ctl("profiles", "delete", "ev", "1")
        self.assertNotIn(("ev", 1), self.profiles())

    def test_another_network_namespace_is_another_node(self):  # interfaces and addresses are others there
        elsewhere = ("unshare", "--net")
        self.assertIn("serves another network namespace", self.ctl("snapshot", wrong=True, prefix=elsewhere))
        said = subprocess.run([*elsewhere, "sh", "-c", f"ip link set lo up && exec {MRC} perf --local --seconds 0.1"],
                              env={**self.environment, "MRC_DEVICES": "lo/127.0.0.1"}, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(said.returncode, 0, said.stderr)  # it works alone
        self.assertEqual(self.json("snapshot")["devices"][0]["totals"]["tx_packets"], 0)

    def test_a_process_with_a_device_of_its_own_is_in_no_controllers_way(self):
        self.create_profiles()
        application = self.start_application(MRC_DEVICES="lo/127.0.0.2")
        self.assertEqual([d["name"] for d in self.json("devices")], ["mrc0", "mrc0@127.0.0.2"])
        self.assertIn("13", self.ctl("profiles", "show", "ev", "1"))  # of mrcd's own, without --device
        self.more_writes(application)
        self.end(application)

    def test_qp_numbers_of_processes_do_not_meet(self):
        applications = [self.start_application() for _ in range(3)]
        processes = {p["pid"]: p for p in self.json("snapshot")["processes"]}
        ranges = sorted((processes[a.pid]["first_qpn"], processes[a.pid]["last_qpn"]) for a in applications)
        for (_, last), (first, _) in zip(ranges, ranges[1:]):
            self.assertLess(last, first)
        for a in applications:
            process = processes[a.pid]
            self.assertEqual(len(process["qps"]), 2)
            for qp in process["qps"]:
                self.assertTrue(process["first_qpn"] <= qp["qpn"] <= process["last_qpn"])
            self.more_writes(a)
            self.end(a)

    def test_denied_evs_are_left_by_running_queue_pairs(self):
        self.create_profiles()
        application = self.start_application(1)
        self.more_writes(application)
        self.ctl("evs", "deny", "1", "0xee49")
        states = {ev["ev"]: ev["state"] for ev in self.json("evs", "list", "1")}
        self.assertEqual(states, {"0xee48": "good", "0xee49": "denied", "0xee4a": "good"})
        self.more_writes(application)
        process = next(p for p in self.json("snapshot", "--evs")["processes"] if p["pid"] == application.pid)
        for qp in process["qps"]:
            self.assertEqual({ev["ev"] for ev in qp["evs"] if ev["state"] == "denied"}, {0xee49})
        self.ctl("evs", "allow", "1", "0xee49@1")
        self.assertIn("has no EV", self.ctl("evs", "deny", "1", "0x1234", wrong=True))
        self.end(application)

    def test_killed_and_restarted_under_a_transfer(self):  # MRC-NODE-003
        self.create_profiles()
        application = self.start_application(1, 3, "busy")  # from here on it never pauses
        started = self.more_writes(application)
        self.mrcd.send_signal(signal.SIGKILL)
        self.mrcd.wait()
        alone = self.more_writes(application)
        self.assertGreater(alone, started)
        self.start_mrcd()
        before = self.more_writes(application)
        self.create_profiles('[ev.2]\nmode = "auto"\ncount = 8\n')
        after = self.profiles()
        self.assertEqual((after["ev", 1]["state"], after["ev", 2]["state"]), ("online", "online"))
        # The application connects again by itself: wait for the event of it, if it has not happened yet.
        events = self.watch()
        while self.profiles()["ev", 1]["qps"] != 2:
            self.readable(events)
        second = self.start_application(2)
        self.more_writes(second)
        self.assertGreater(self.more_writes(application), before)
        self.end(second)
        self.end(application)

    def watch(self):
        events = subprocess.Popen([MRC, "ctl", "events", "--watch", "--json"], env=self.environment,
                                  stdout=subprocess.PIPE, text=True)
        self.addCleanup(events.stdout.close)
        self.addCleanup(events.wait)
        self.addCleanup(events.kill)
        return events

    def next_event(self, events, kind):
        while True:
            event = json.loads(events.stdout.readline())
            if event["event"] == kind:
                return event

    def test_events_reach_who_watches(self):  # MRC-CTL-016
        self.create_profiles()
        events = self.watch()
        # Until it has subscribed nothing reaches it: tell until it hears.
        for _ in range(1000):
            self.ctl("evs", "deny", "1", "0xee48")
            self.ctl("evs", "allow", "1", "0xee48")
            if self.json("snapshot") and self.readable(events):
                break
        event = self.next_event(events, "ev_state")
        self.assertEqual((event["profile"], event["ev"], event["port"]), (1, "0xee48", 1))
        application = self.start_application()
        self.assertEqual(self.next_event(events, "process_joined")["device"], "mrc0")
        self.ctl("ports", "down", "1")
        down = self.next_event(events, "port_admin")
        self.assertEqual((down["port"], down["up"]), (1, False))
        self.ctl("ports", "up", "1")
        self.more_writes(application)
        self.end(application)
        self.next_event(events, "process_left")

    def test_a_port_taken_down_is_down_for_who_comes(self):  # MRC-CTL-001
        self.ctl("ports", "down", "1")
        self.assertEqual([p["admin"] for p in self.json("ports")], [False])
        done = subprocess.run([MRC, "exec", "-d", "lo", "--", "ibv_devinfo", "-d", "mrc0"], env=self.environment,
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertIn("PORT_DOWN", done.stdout)
        self.ctl("ports", "up", "1")

    def test_without_the_capability_nothing_changes(self):  # MRC-NODE-002, MRC-CTL-002
        self.create_profiles()
        drop = ["setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin"]
        for words in (["ports", "down", "1"], ["profiles", "delete", "ev", "1"], ["evs", "deny", "1", "0xee48"]):
            self.assertIn("CAP_NET_ADMIN", self.ctl(*words, wrong=True, prefix=drop))
        self.ctl("snapshot", prefix=drop)
        self.assertEqual(self.profiles()["ev", 1]["state"], "online")
        self.assertEqual(self.json("evs", "list", "1")[0]["state"], "good")
        self.assertTrue(self.json("ports")[0]["admin"])

    def test_probes_are_answered_with_no_application(self):  # MRC-NODE-005
        elsewhere = {"MRC_DEVICES": "lo/127.0.0.9", "MRC_SOCKET": ""}
        answer = self.json("probe", "127.0.0.1", "--ev", "0xee48", "0xee49", "--count", "3", **elsewhere)
        self.assertEqual([(line["sent"], line["lost"]) for line in answer["evs"]], [(3, 0), (3, 0)])
        self.assertGreater(answer["evs"][0]["rtt_min_ns"], 0)
        self.json("probe", "127.0.0.1")  # from the same address: answers find the one that asked
        self.assertIn("answers no probe", self.ctl("probe", "127.0.0.77", "--timeout", "50", wrong=True, **elsewhere))
        application = self.start_application()
        self.json("probe", "127.0.0.1", **elsewhere)
        self.mrcd.kill()  # the application takes the duty over
        self.mrcd.wait()
        self.more_writes(application)
        self.json("probe", "127.0.0.1", **elsewhere)
        self.end(application)

    def test_nonsense_harms_nobody(self):  # MRC-NODE-004
        self.create_profiles()
        for garbage in (b"GET / HTTP/1.0\r\n\r\n", b"\xff" * 100000, b"\x00" * 12, os.urandom(4096)):
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(self.environment["MRC_SOCKET"])
                try:
                    s.sendall(garbage)
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(4096):
                        pass
                except (BrokenPipeError, ConnectionResetError):
                    pass
        self.assertIsNone(self.mrcd.poll())
        self.assertEqual(self.profiles()["ev", 1]["state"], "online")

    def test_a_daemon_without_a_port_leaves_the_address_to_frames(self):
        udp_port = int(self.environment["MRC_UDP_PORT"])
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            self.assertRaises(OSError, taken.bind, ("127.0.0.1", udp_port))
        self.mrcd.kill()
        self.mrcd.wait()
        self.mrcd_options = ("--no-endpoint",)
        self.start_mrcd()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", udp_port))
        self.create_profiles()
        application = self.start_application(1, 3)
        self.more_writes(application)
        self.assertEqual(self.profiles()[("ev", 1)]["qps"], 2)
        self.end(application)

    def test_says_what_to_do(self):
        self.assertIn("start it with `mrcd`", self.ctl("snapshot", wrong=True, MRC_SOCKET=str(self.folder / "none")))
        second = subprocess.run([MRCD, "--foreground"], env=self.environment, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(second.returncode, 1)
        self.assertIn("another mrcd listens", second.stderr)
        for mode in ("rw", "9", "0660x", "10000", "-1"):
            wrong = subprocess.run([MRCD, "--foreground", "--socket-mode", mode], env=self.environment, capture_output=True, text=True, timeout=SECONDS)
            self.assertNotEqual(wrong.returncode, 0, mode)
            self.assertIn("no mode in octal", wrong.stderr, mode)
        bad = self.folder / "bad.toml"
        bad.write_text('[ev.1]\nmode = "wild"\ncount = 1\n')
        self.assertIn("ev.1: mode must be auto, explicit or generated", self.ctl("profiles", "create", str(bad), wrong=True))
        bad.write_text('[ev.1]\nmode = "explicit"\nfoo = 13\n')
        self.assertIn("ev.1: there is no key 'foo'", self.ctl("profiles", "create", str(bad), wrong=True))
        bad.write_text('[ev.1]\nmode = "explicit"\n')
        self.assertIn("ev.1: evs must be there", self.ctl("profiles", "create", str(bad), wrong=True))
        bad.write_text("")
        for nothing in (bad, self.folder):
            self.assertIn("holds no profile", self.ctl("profiles", "create", str(nothing), wrong=True))
        self.assertIn("--watch", self.ctl("events", "--watch", "--seconds", "1", wrong=True))

    def test_a_file_of_profiles_is_made_whole_or_not_at_all(self):
        self.create_profiles('[cc.3]\nalgorithm = "off"\n')
        path = self.folder / "more.toml"
        path.write_text(PROFILES)
        self.assertIn("cc profile 3 is there already", self.ctl("profiles", "create", str(path), wrong=True))
        self.assertEqual(set(self.profiles()), {("cc", 3)})
        path.write_text(PROFILES.replace("[cc.3]", "[cc.4]").replace("port = 1 }]", "port = 9 }]"))  # the last EV's
        self.assertRegex(self.ctl("profiles", "create", str(path), wrong=True), r"ev\.1: evs\[\d+\] is refused: has the device a port 9")
        self.assertEqual(set(self.profiles()), {("cc", 3)})

    def test_a_device_or_port_that_is_not_there(self):
        self.assertEqual([port["device"] for port in self.json("ports", "--device", "mrc0")], ["mrc0"])
        self.assertIn("there is no device mrc7", self.ctl("ports", "--device", "mrc7", wrong=True))
        self.assertIn("has no port 5", self.ctl("probe", "127.0.0.1", "--port", "5", wrong=True))
        self.assertEqual([port["port"] for port in self.json("ports", "list", "1")], [1])
        self.assertIn("has no port 2", self.ctl("ports", "list", "2", wrong=True))

    def test_an_ev_to_probe_is_a_source_port(self):  # not the first 16 of other bits
        for ev in ("0xee480", "0x1ee48", "0xe"):
            self.assertIn("four hex digits", self.ctl("probe", "127.0.0.1", "--ev", ev, wrong=True))

    def test_perf_takes_the_nodes_device_with_its_profiles(self):
        self.mrcd.kill()
        self.mrcd.wait()
        self.environment["MRC_DEVICES"] = "lo/127.0.0.1,lo/127.0.0.2"
        self.start_mrcd()
        self.create_profiles()
        environment = {name: value for name, value in self.environment.items() if name != "MRC_DEVICES"}
        said = subprocess.run([MRC, "perf", "--local", "--tcp-port", "18823", "--size", "8", "--ev-profile", "1", "--cc-profile", "3"],
                              env=environment, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(said.returncode, 0, said.stderr)

    def test_who_watches_waits_for_an_mrcd_that_restarts(self):
        events = subprocess.Popen([MRC, "ctl", "events", "--watch", "--json"], env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(events.stdout.close)
        self.addCleanup(events.stderr.close)
        self.addCleanup(events.wait)
        self.addCleanup(events.kill)
        self.hears(events)
        self.mrcd.kill()
        self.mrcd.wait()
        self.assertIn("events are missed until it is back", events.stderr.readline())
        self.start_mrcd()
        self.hears(events)

    def hears(self, events):
        """A change reaches who watches: made until it does, for it may not have subscribed yet."""
        for _ in range(1000):
            self.ctl("ports", "down", "1")
            self.ctl("ports", "up", "1")
            if self.readable(events):
                break
        self.next_event(events, "port_admin")

    def test_goes_to_the_background_once_it_serves(self):
        environment = {**self.environment, "MRC_SOCKET": str(self.folder / "second.sock"), "MRC_DEVICES": ""}
        subprocess.run([MRCD], env=environment, check=True, timeout=SECONDS, stderr=subprocess.DEVNULL)
        pid = self.json("snapshot", **environment)["mrcd_pid"]
        self.assertNotEqual(pid, self.mrcd.pid)
        os.kill(pid, signal.SIGTERM)


if __name__ == "__main__":
    unittest.main()
