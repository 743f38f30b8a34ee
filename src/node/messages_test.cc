// Messages survive the way to bytes and back, and nothing else does.
#include <gtest/gtest.h>

#include "node/framing.h"
#include "node/message_fields.h"

namespace mrc::node {
namespace {

using Next = MessageStream::Next;

std::vector<std::uint8_t> bytes_of(const Message& message) {
  std::vector<std::uint8_t> out;
  emit_message(message, out);
  return out;
}

Message some_hello() {
  Hello hello;
  hello.network = 4026531840;
  hello.program = "perf";
  hello.device = "mrc0";
  hello.ports = {{"eth0", {1, 2, 3}}, {"eth1", {4, 5, 6}}};
  hello.first_qpn = Qpn(1 << 19);
  return {7, hello};
}

TEST(Messages, ComeBackAsTheyWent) {
  const auto bytes = bytes_of(some_hello());
  MessageStream stream;
  Message out;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {  // byte by byte: whole only with the last
    stream.append(std::span(bytes).subspan(i, 1));
    ASSERT_EQ(stream.next(out), Next::more);
  }
  stream.append(std::span(bytes).last(1));
  ASSERT_EQ(stream.next(out), Next::message);
  EXPECT_EQ(out.id, 7u);
  const auto& hello = std::get<Hello>(out.body);
  EXPECT_EQ(hello.device, "mrc0");
  EXPECT_EQ(hello.ports.at(1).interface, "eth1");
  EXPECT_EQ(bytes_of(out), bytes);
  EXPECT_EQ(stream.next(out), Next::more);
}

template <std::size_t... I>
void every_type(std::index_sequence<I...>) {
  const auto check = [](const Body& body) {
    const auto bytes = bytes_of({3, body});
    MessageStream stream;
    stream.append(bytes);
    Message out;
    ASSERT_EQ(stream.next(out), Next::message) << "type " << body.index();
    EXPECT_EQ(out.body.index(), body.index());
    EXPECT_EQ(bytes_of(out), bytes);
  };
  (check(Body(std::in_place_index<I>)), ...);
}
TEST(Messages, EveryTypeHasItsFields) { every_type(std::make_index_sequence<std::variant_size_v<Body>>()); }

TEST(Messages, AreRefusedWhenAnythingIsWrong) {  // MRC-NODE-004
  const auto good = bytes_of(some_hello());
  const auto verdict = [](std::vector<std::uint8_t> bytes) {
    MessageStream stream;
    stream.append(bytes);
    Message out;
    return stream.next(out);
  };
  EXPECT_EQ(verdict(good), Next::message);
  auto bad = good;
  bad[4] = 200;  // no such type
  EXPECT_EQ(verdict(bad), Next::malformed);
  bad = good;
  bad[6] = 9;  // another version
  EXPECT_EQ(verdict(bad), Next::malformed);
  bad[4] = 60;  // which may have more types
  EXPECT_EQ(verdict(bad), Next::malformed);
  bad = good;
  bad[2] = 0x20;  // two mebibytes, said before any of it is there
  EXPECT_EQ(verdict(bad), Next::malformed);
  bad = good;
  --bad[0];  // one byte short
  EXPECT_EQ(verdict(bad), Next::malformed);
  bad = good;
  bad[kHeaderBytes + 13] = '\n';  // the program's name
  EXPECT_EQ(verdict(bad), Next::malformed);
}

TEST(Messages, ACountAloneTakesNoMemory) {
  Writer writer;
  std::uint64_t network = 0;
  std::uint32_t count = 0xFFFFFFFF;
  writer(network)(count);
  EXPECT_FALSE(from_bytes<Holdings>(writer.bytes()));
  EXPECT_FALSE(parse_body(0, {}));
}

TEST(Messages, NumbersOutsideTheirEnumAreRefused) {
  auto bytes = to_bytes(ProfileLine{});
  EXPECT_TRUE(from_bytes<ProfileLine>(bytes));
  bytes[0] = 3;
  EXPECT_FALSE(from_bytes<ProfileLine>(bytes));
  auto flag = to_bytes(SetPort{PortId(1), true});
  flag[1] = 2;
  EXPECT_FALSE(from_bytes<SetPort>(flag));
}

}  // namespace
}  // namespace mrc::node
