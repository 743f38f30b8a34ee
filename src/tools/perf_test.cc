// `mrc perf` between two processes over loopback: real sockets, every byte compared.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tools/run_mrc.h"

namespace mrc::tools {
namespace {

using testing::Outcome;
using testing::run_mrc;

struct Perf : ::testing::Test {
  Perf() {
    ::setenv("MRC_UDP_PORT", "14809", 1);
    // an earlier run in this process named its own
    for (const char* name : {"MRC_DEVICES", "MRC_ICRC", "MRC_SPRAY_UNIT"}) ::unsetenv(name);
  }
  ~Perf() override { ::unsetenv("MRC_UDP_PORT"); }
};

/// A short measurement; a longer one where the machine is so busy that no write was done.
Outcome measure(std::vector<std::string> words) {
  words.insert(words.begin(), {"perf", "--local"});
  Outcome o;
  for (const char* seconds : {"0.05", "1", "10"}) {
    auto with = words;
    with.insert(with.end(), {"--seconds", seconds});
    o = run_mrc(with);
    if (o.err.find("no write was done") == std::string::npos) break;
  }
  return o;
}

TEST_F(Perf, EveryByteArrives) {
  const Outcome o =
      measure({"--tcp-port", "18809", "--size", "70001", "--depth", "4", "--qps", "3", "--verify", "--json"});
  EXPECT_EQ(o.status, 0) << o.err;
  for (const char* field : {"\"gbps\":", "\"mops\":", "\"cpu_percent\":", "\"spray_unit\":8",
                            "\"repairs\":", "\"icrc\":true", "\"verified_bytes\":"}) {
    EXPECT_NE(o.out.find(field), std::string::npos) << field << " in " << o.out;
  }
}

TEST_F(Perf, LatencyOfImmediates) {
  const Outcome o = measure({"--tcp-port", "18810", "--size", "8", "--latency", "--imm", "--json"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("\"half_rtt_us\":{\"p50\":"), std::string::npos) << o.out;
}

TEST_F(Perf, NoImmediateFindsNoReceive) {
  for (const char* depth : {"1", "5", "64"}) {
    for (const char* how : {"--quiet", "--verify", "--latency"}) {
      const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18814", "--seconds", "0.3", "--size", "4K",
                                 "--imm", "--depth", depth, how, "--json"});
      EXPECT_EQ(o.status, 0) << depth << " " << how << ": " << o.err;
    }
  }
}

TEST_F(Perf, SmallWritesInTheConformantMode) {
  const Outcome o = measure({"--tcp-port", "18811", "--size", "64", "--spray-unit", "1"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("writes of 64 bytes, 1 QP, depth"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find("spray unit 1, iCRC on"), std::string::npos) << o.out;
}

TEST_F(Perf, WhatTheEnvironmentSaysHoldsForPerfToo) {
  ::setenv("MRC_ICRC", "0", 1);
  ::setenv("MRC_SPRAY_UNIT", "3", 1);
  const Outcome o = measure({"--tcp-port", "18816"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("spray unit 3, iCRC off"), std::string::npos) << o.out;
}

TEST_F(Perf, ARateIsNotExceeded) {
  const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18812", "--seconds", "0.3", "--size", "4K",
                             "--depth", "8", "--rate", "10M", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  const auto figure = nlohmann::json::parse(o.out);
  EXPECT_GT(figure.value("gbps", 0.0), 0);
  EXPECT_LE(figure.value("gbps", 1.0), 0.0102);  // and the first write, which is due at once
}

TEST_F(Perf, FewWritesAtARateAreAFigureToo) {
  const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18818", "--seconds", "0.1", "--rate", "20M"});
  EXPECT_EQ(o.status, 0) << o.err;
}

TEST_F(Perf, NothingDoneIsNoFigure) {
  const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18813", "--seconds", "0.01", "--size", "128M",
                             "--depth", "1", "--json"});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(o.out, "");
  EXPECT_NE(o.err.find("give it more --seconds, or a smaller --size"), std::string::npos) << o.err;
}

TEST_F(Perf, SizesHaveUnits) {
  const Outcome o = measure({"--tcp-port", "18815", "--size", "4kB", "--cc", "constant:128K", "--json"});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(nlohmann::json::parse(o.out).value("size", 0), 4000);
  for (const char* cc : {"constant:4K", "constant:128Q", "fast"}) {
    const Outcome refused = run_mrc({"perf", "--local", "--cc", cc});
    EXPECT_EQ(refused.status, 2) << cc;
    EXPECT_NE(refused.err.find("--cc: '" + std::string(cc)), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("such as constant:128K"), std::string::npos) << refused.err;
  }
}

TEST_F(Perf, WhoFindsNobodySaysHowLongItWaited) {
  const Outcome o = run_mrc({"perf", "--connect", "127.0.0.1", "--tcp-port", "18816", "--wait", "1.2"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("waiting up to 1.2 s (--wait) for 127.0.0.1 port 18816: mrc perf --listen"),
            std::string::npos)
      << o.err;
  EXPECT_NE(o.err.find("no connection to 127.0.0.1 port 18816"), std::string::npos) << o.err;
}

TEST_F(Perf, AnEndThatCannotListenKeepsNobodyWaiting) {
  const int taken = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_port = htons(18819);
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(taken, reinterpret_cast<sockaddr*>(&here), sizeof here), 0);
  ASSERT_EQ(::listen(taken, 1), 0);
  const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18819", "--wait", "2"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("Address already in use (--tcp-port names another"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("did not answer in time"), std::string::npos)
      << "the other end never tried: " << o.err;
  ::close(taken);
}

TEST_F(Perf, AProfileThatIsNotThereIsNamed) {
  const Outcome o = run_mrc({"perf", "--local", "--tcp-port", "18817", "--ev-profile", "9"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("ev_profile_id 9"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("`mrc ctl profiles` lists them"), std::string::npos) << o.err;
  EXPECT_EQ(run_mrc({"perf", "--local", "--cc", "off", "--cc-profile", "1"}).status, 2);
}

TEST_F(Perf, NonsenseIsRefusedWithASentence) {
  EXPECT_NE(run_mrc({"perf"}).err.find("--listen ADDRESS"), std::string::npos);
  EXPECT_EQ(run_mrc({"perf"}).status, 2);
  EXPECT_EQ(run_mrc({"perf", "--local", "--latency", "--size", "0"}).status, 2);
  EXPECT_NE(run_mrc({"perf", "--local", "--rate", "10M", "--verify"}).err.find("--rate"), std::string::npos);
  EXPECT_NE(run_mrc({"perf", "--local", "--rate", "fast"}).status, 0);
  for (const char* option : {"--verify", "--qps=2"}) {  // not taken and left out
    const Outcome ping = run_mrc({"perf", "--local", "--latency", option});
    EXPECT_EQ(ping.status, 2) << option;
    EXPECT_NE(ping.err.find("--latency is one write at a time"), std::string::npos) << ping.err;
  }
  EXPECT_EQ(run_mrc({"perf", "--local", "--tcp-port", "65536"}).status, 2);
  ::setenv("MRC_ICRC", "yes", 1);
  EXPECT_NE(run_mrc({"perf", "--local"}).err.find("MRC_ICRC=yes is not a number"), std::string::npos);
  ::unsetenv("MRC_ICRC");
  const Outcome o = run_mrc({"perf", "--listen", "192.0.2.1"});
  EXPECT_EQ(o.status, 1);
  EXPECT_NE(o.err.find("no interface of this host has the address 192.0.2.1"), std::string::npos) << o.err;
}

}  // namespace
}  // namespace mrc::tools
