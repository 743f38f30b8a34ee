#include "node/framing.h"

#include <utility>

#include "node/message_fields.h"

namespace mrc::node {
namespace {

// What another version may reasonably say; beyond that it is noise.
constexpr std::uint16_t kMostTypes = 256, kMostVersions = 1000;

struct Header {
  std::uint32_t length = 0;
  std::uint16_t type = 0;
  std::uint16_t version = kProtocol;
  std::uint32_t id = 0;
};

template <class A>
void fields(A& a, Header& v) {
  a(v.length)(v.type)(v.version)(v.id);
}

template <std::size_t I>
std::optional<Body> parse_as(std::span<const std::uint8_t> bytes) {
  auto value = from_bytes<std::variant_alternative_t<I, Body>>(bytes);
  if (!value) return std::nullopt;
  return Body(std::in_place_index<I>, std::move(*value));
}

template <std::size_t... I>
std::optional<Body> parse_any(std::size_t index, std::span<const std::uint8_t> bytes,
                              std::index_sequence<I...>) {
  std::optional<Body> out;
  (void)((index == I && ((out = parse_as<I>(bytes)), true)) || ...);
  return out;
}

}  // namespace

void emit_message(const Message& message, std::vector<std::uint8_t>& out, std::uint32_t version) {
  const auto body = std::visit([](const auto& value) { return to_bytes(value); }, message.body);
  const Header header{.length = static_cast<std::uint32_t>(body.size()),
                      .type = static_cast<std::uint16_t>(message.body.index()),
                      .version = static_cast<std::uint16_t>(version),
                      .id = message.id};
  const auto head = to_bytes(header);
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), body.begin(), body.end());
}

std::optional<Body> parse_body(std::uint16_t type, std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMaxBodyBytes) return std::nullopt;
  return parse_any(type, bytes, std::make_index_sequence<std::variant_size_v<Body>>());
}

MessageStream::Next MessageStream::next(Message& out) {
  const auto rest = std::span<const std::uint8_t>(bytes_).subspan(taken_);
  if (rest.size() < kHeaderBytes) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(std::exchange(taken_, 0)));
    return Next::more;
  }
  const auto header = from_bytes<Header>(rest.first(kHeaderBytes));
  // MRC-NODE-004: what is not a message of this protocol ends the connection, before anything is taken for
  // it.
  if (header->length > kMaxBodyBytes || header->type >= kMostTypes) return Next::malformed;
  if (header->version != kProtocol) {
    if (header->version <= kMostVersions) foreign_ = {header->version, header->id};
    return Next::malformed;
  }
  if (header->type >= std::variant_size_v<Body>) return Next::malformed;
  if (rest.size() < kHeaderBytes + header->length) return Next::more;
  auto body = parse_body(header->type, rest.subspan(kHeaderBytes, header->length));
  if (!body) return Next::malformed;
  out = {header->id, std::move(*body)};
  taken_ += kHeaderBytes + header->length;
  return Next::message;
}

}  // namespace mrc::node
