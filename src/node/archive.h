// Values to bytes and back, for messages between processes and mrcd and for mrcd's state file.
//
// Each type says once what it consists of, `template <class A> void fields(A& a, T& v)`, and both directions
// follow from that. Reading is strict: a byte missing, a byte too many, a number that is no member of its
// enum, a text with control characters, a list longer than its limit, and the whole is refused. Memory for a
// list is taken only when its bytes are there. Integers are little-endian.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/ids.h"

namespace mrc::node {

inline constexpr std::size_t kMaxText = 255;

class Writer {
 public:
  static constexpr bool kReading = false;
  std::vector<std::uint8_t>& bytes() { return bytes_; }

  template <std::integral T>
  Writer& operator()(T& v) {
    const auto number = static_cast<std::uint64_t>(v);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::uint8_t>(number >> 8 * i));
    return *this;
  }
  Writer& operator()(bool& v) { return put(v ? 1 : 0); }
  Writer& operator()(float& v) {
    auto bits = std::bit_cast<std::uint32_t>(v);
    return (*this)(bits);
  }
  Writer& operator()(std::string& v) {
    auto size = static_cast<std::uint8_t>(std::min(v.size(), kMaxText));
    put(size);
    bytes_.insert(bytes_.end(), v.begin(), v.begin() + size);
    return *this;
  }
  template <std::size_t N>
  Writer& operator()(std::array<std::uint8_t, N>& v) {
    bytes_.insert(bytes_.end(), v.begin(), v.end());
    return *this;
  }
  template <class Tag, class Rep>
  Writer& operator()(Id<Tag, Rep>& v) {
    return (*this)(v.value);
  }
  template <class T>
  Writer& operator()(std::optional<T>& v) {
    put(v ? 1 : 0);
    return v ? (*this)(*v) : *this;
  }
  template <class T>
  requires std::is_class_v<T> Writer& operator()(T& v) {
    fields(*this, v);
    return *this;
  }
  template <class E>
  Writer& choice(E& v, std::initializer_list<E>) {
    auto number = static_cast<std::uint32_t>(v);
    return (*this)(number);
  }
  template <class E>
  Writer& choice(std::optional<E>& v, std::initializer_list<E> legal) {
    put(v ? 1 : 0);
    return v ? choice(*v, legal) : *this;
  }
  template <class T>
  Writer& list(std::vector<T>& v, std::size_t) {
    auto count = static_cast<std::uint32_t>(v.size());
    (*this)(count);
    for (T& one : v) (*this)(one);
    return *this;
  }
  template <class T>
  Writer& list(std::optional<std::vector<T>>& v, std::size_t most) {
    put(v ? 1 : 0);
    return v ? list(*v, most) : *this;
  }

 private:
  Writer& put(int byte) { return bytes_.push_back(static_cast<std::uint8_t>(byte)), *this; }
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  static constexpr bool kReading = true;
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  /// Everything was read, and all of it was legal.
  bool complete() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }

  template <std::integral T>
  Reader& operator()(T& v) {
    std::uint64_t number = 0;
    const auto bytes = take(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) number |= std::uint64_t{bytes[i]} << 8 * i;
    v = static_cast<T>(number);
    return *this;
  }
  Reader& operator()(bool& v) {
    std::uint8_t byte = 0;
    (*this)(byte);
    v = byte == 1;
    return require(byte <= 1);
  }
  Reader& operator()(float& v) {
    std::uint32_t bits = 0;
    (*this)(bits);
    v = std::bit_cast<float>(bits);
    return *this;
  }
  Reader& operator()(std::string& v) {
    std::uint8_t size = 0;
    (*this)(size);
    const auto bytes = take(size);
    v.assign(bytes.begin(), bytes.end());
    for (const std::uint8_t c : bytes) require(c >= 0x20 && c != 0x7F);
    return *this;
  }
  template <std::size_t N>
  Reader& operator()(std::array<std::uint8_t, N>& v) {
    const auto bytes = take(N);
    if (!bytes.empty()) std::memcpy(v.data(), bytes.data(), N);
    return *this;
  }
  template <class Tag, class Rep>
  Reader& operator()(Id<Tag, Rep>& v) {
    return (*this)(v.value);
  }
  template <class T>
  Reader& operator()(std::optional<T>& v) {
    return present() ? (*this)(v.emplace()) : (v.reset(), *this);
  }
  template <class T>
  requires std::is_class_v<T> Reader& operator()(T& v) {
    fields(*this, v);
    return *this;
  }
  template <class E>
  Reader& choice(E& v, std::initializer_list<E> legal) {
    std::uint32_t number = 0;
    (*this)(number);
    bool known = false;
    for (const E one : legal) known |= static_cast<std::uint32_t>(one) == number;
    if (require(known).good_) v = static_cast<E>(number);
    return *this;
  }
  template <class E>
  Reader& choice(std::optional<E>& v, std::initializer_list<E> legal) {
    return present() ? choice(v.emplace(), legal) : (v.reset(), *this);
  }
  template <class T>
  Reader& list(std::vector<T>& v, std::size_t most) {
    std::uint32_t count = 0;
    (*this)(count);
    v.clear();
    require(count <= most && count <= rest_.size());  // an element has at least one byte
    for (std::uint32_t i = 0; good_ && i < count; ++i) (*this)(v.emplace_back());
    return *this;
  }
  template <class T>
  Reader& list(std::optional<std::vector<T>>& v, std::size_t most) {
    return present() ? list(v.emplace(), most) : (v.reset(), *this);
  }
  Reader& require(bool condition) {
    good_ = good_ && condition;
    return *this;
  }

 private:
  bool present() {
    bool there = false;
    (*this)(there);
    return good_ && there;
  }
  std::span<const std::uint8_t> take(std::size_t n) {
    if (!require(n <= rest_.size()).good_) return {};
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }

  std::span<const std::uint8_t> rest_;
  bool good_ = true;
};

template <class T>
std::vector<std::uint8_t> to_bytes(const T& value) {
  Writer writer;
  writer(const_cast<T&>(value));  // a Writer only reads
  return std::move(writer.bytes());
}

template <class T>
std::optional<T> from_bytes(std::span<const std::uint8_t> bytes) {
  Reader reader(bytes);
  std::optional<T> value(std::in_place);
  reader(*value);
  if (!reader.complete()) value.reset();
  return value;
}

}  // namespace mrc::node
