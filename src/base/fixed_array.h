// An array whose size is chosen once, at creation: the engine's only container of run-time size.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/check.h"

namespace mrc {

template <class T>
class FixedArray {
 public:
  explicit FixedArray(std::size_t size) : data_(size == 0 ? nullptr : new T[size]()), size_(size) {}

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  T* begin() { return data_.get(); }
  T* end() { return data_.get() + size_; }
  const T* begin() const { return data_.get(); }
  const T* end() const { return data_.get() + size_; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_;
};

}  // namespace mrc
