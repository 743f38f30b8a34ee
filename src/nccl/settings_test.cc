#include "nccl/settings.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace mrc::nccl {
namespace {

struct Environment : ::testing::Test {
  ~Environment() override {
    for (const char* name :
         {"NCCL_OPENMRC_QPS", "NCCL_OPENMRC_STRIPE_BYTES", "NCCL_OPENMRC_THREADS", "NCCL_OPENMRC_TIMEOUT_MS",
          "NCCL_OPENMRC_DEVICES", "MRC_DEVICES", "MRC_COPIES", "NCCL_OPENMRC_SPRAY_UNIT", "MRC_SPRAY_UNIT",
          "NCCL_OPENMRC_TAIL", "MRC_TAIL", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
          "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
      ::unsetenv(name);
    }
  }
};

TEST_F(Environment, DefaultsAndWhatIsSaid) {
  EXPECT_EQ(read_settings()->timeout_ms, 10'000u);
  EXPECT_STREQ(std::getenv("MRC_SPRAY_UNIT"), "0");
  EXPECT_STREQ(std::getenv("MRC_TAIL"), "16");
  ::setenv("NCCL_OPENMRC_QPS", "4", 1);
  ::setenv("NCCL_OPENMRC_DEVICES", "eth0,eth1", 1);
  ::setenv("NCCL_OPENMRC_THREADS", "2", 1);
  EXPECT_EQ(read_settings()->qps, 4u);
  EXPECT_STREQ(std::getenv("MRC_DEVICES"), "eth0,eth1");
  EXPECT_STREQ(std::getenv("MRC_COPIES"), "2");
}

TEST(Threads, FollowTheCores) {
  EXPECT_EQ(default_threads(0), 1u);
  EXPECT_EQ(default_threads(2), 1u);
  EXPECT_EQ(default_threads(8), 3u);
  EXPECT_EQ(default_threads(16), 6u);
  EXPECT_EQ(default_threads(256), 6u);
}

TEST_F(Environment, RanksOfOneHostShareItsCores) {
  EXPECT_EQ(cores_of_rank(64, 64), 64u) << "nobody says how many they are";
  for (const char* name :
       {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"}) {
    ::setenv(name, "8", 1);
    EXPECT_EQ(cores_of_rank(64, 64), 8u) << name;
    EXPECT_EQ(cores_of_rank(8, 64), 8u) << "bound to its part";
    EXPECT_EQ(cores_of_rank(32, 64), 8u) << "bound to a socket, with others";
    EXPECT_EQ(cores_of_rank(4, 4), 0u) << "more ranks than cores";
    for (const char* nonsense : {"0", "-8", "4(x2)", "99999", "all", ""}) {
      ::setenv(name, nonsense, 1);
      EXPECT_EQ(cores_of_rank(64, 64), 64u) << name << "=" << nonsense;
    }
    ::unsetenv(name);
  }
}

TEST_F(Environment, ManyRanksOfOneHostHaveOneThreadEach) {
  ::setenv("LOCAL_WORLD_SIZE", "1024", 1);
  EXPECT_EQ(read_settings()->threads, 1u);
  ::unsetenv("MRC_COPIES");
  ::setenv("NCCL_OPENMRC_THREADS", "3", 1);
  EXPECT_EQ(read_settings()->threads, 3u) << "who says so gets them";
}

TEST_F(Environment, LibmrcsOwnVariablesWin) {
  ::setenv("MRC_DEVICES", "lo", 1);
  ::setenv("NCCL_OPENMRC_DEVICES", "eth0", 1);
  EXPECT_EQ(read_settings()->threads, 1u);
  EXPECT_STREQ(std::getenv("MRC_DEVICES"), "lo");
  ::unsetenv("MRC_COPIES");
  ::setenv("NCCL_OPENMRC_THREADS", "3", 1);
  EXPECT_EQ(read_settings()->threads, 3u) << "who says so gets them there too";
  EXPECT_STREQ(std::getenv("MRC_COPIES"), "3");
}

TEST_F(Environment, NonsenseIsNamed) {
  for (const char* value : {"0", "17", "4x", "-1", "99999999999999"}) {
    ::setenv("NCCL_OPENMRC_QPS", value, 1);
    const auto settings = read_settings();
    ASSERT_FALSE(settings) << value;
    EXPECT_THAT(settings.error().what, ::testing::HasSubstr("NCCL_OPENMRC_QPS is '" + std::string(value)));
    EXPECT_THAT(settings.error().what, ::testing::HasSubstr("from 1 to 16"));
  }
}

TEST_F(Environment, ANameThatIsNoneIsFound) {
  ::setenv("NCCL_OPENMRC_QPS", "4", 1);
  ::setenv("NCCL_OPENMRC_DEVICES", "eth0", 1);
  ::setenv("NCCL_OPENMRC_TAIL", "0", 1);
  EXPECT_THAT(unknown_settings(), ::testing::IsEmpty());
  ::setenv("NCCL_OPENMRC_DEVICE", "eth0", 1);
  EXPECT_THAT(unknown_settings(), ::testing::ElementsAre("NCCL_OPENMRC_DEVICE"));
  ::unsetenv("NCCL_OPENMRC_DEVICE");
}

TEST_F(Environment, BytesHaveUnits) {
  ::setenv("NCCL_OPENMRC_STRIPE_BYTES", "1M", 1);
  ASSERT_TRUE(read_settings());
  EXPECT_EQ(read_settings()->stripe_bytes, 1u << 20);
  ::setenv("NCCL_OPENMRC_STRIPE_BYTES", "2G", 1);
  EXPECT_THAT(read_settings().error().what,
              ::testing::HasSubstr("from 1 to 1073741824, written as 65536, 64K"));
}

TEST_F(Environment, WhatGoesToLibmrcIsCheckedUnderItsOwnName) {
  for (const char* value : {"65", "-1", "lots"}) {
    ::setenv("NCCL_OPENMRC_SPRAY_UNIT", value, 1);
    const auto settings = read_settings();
    ASSERT_FALSE(settings) << value;
    EXPECT_THAT(settings.error().what,
                ::testing::HasSubstr("NCCL_OPENMRC_SPRAY_UNIT is '" + std::string(value)));
    EXPECT_THAT(settings.error().what, ::testing::HasSubstr("from 0 to 64"));
    EXPECT_EQ(std::getenv("MRC_SPRAY_UNIT"), nullptr) << "libmrc must not hear of it";
  }
}

// A rank that starts a program of its own hands it our MRC_DEVICES too.
TEST_F(Environment, AProcessThatInheritsWhatWeSetSeesTheSame) {
  ::setenv("NCCL_OPENMRC_DEVICES", "eth0,eth1", 1);
  ::setenv("NCCL_OPENMRC_THREADS", "2", 1);
  ASSERT_EQ(read_settings()->threads, 2u);
  ::unsetenv("NCCL_OPENMRC_THREADS");
  EXPECT_EQ(read_settings()->threads, 2u) << "two threads of one device, not two devices";
  EXPECT_STREQ(std::getenv("MRC_DEVICES"), "eth0,eth1");
}

TEST_F(Environment, ThreadsNeedNoDeviceByName) {
  ::setenv("NCCL_OPENMRC_THREADS", "4", 1);
  EXPECT_EQ(read_settings()->threads, 4u);
  EXPECT_STREQ(std::getenv("MRC_COPIES"), "4") << "of whichever devices libmrc finds";
  EXPECT_EQ(std::getenv("MRC_DEVICES"), nullptr);
}

TEST(Retries, EndInTimeAndNotFarTooSoon) {
  for (const std::uint32_t ms : {50u, 100u, 600u, 1'000u, 3'000u, 10'000u, 60'000u, 3'600'000u}) {
    const Retries r = retries_within(ms);
    EXPECT_LE(patience_us(r) + ms * 1000ull / kAsksPerTimeout, ms * 1000ull) << ms;
    EXPECT_GE(patience_us(r), ms * 1000ull / 2) << ms;
    EXPECT_LE(r.linear, 7);
    EXPECT_LT(r.exponential, 25) << "25 means for ever";
  }
}

}  // namespace
}  // namespace mrc::nccl
