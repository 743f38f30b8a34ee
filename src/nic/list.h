// A doubly linked list through its elements: joining and leaving never allocate, and an element knows whether
// it is in.
#pragma once

namespace mrc::nic {

/// Derive from Link<Tag> once per list that an object may be in at the same time.
template <class Tag>
struct Link {
  Link* prev = nullptr;
  Link* next = nullptr;
  bool linked() const { return next != nullptr; }

  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
};

template <class T, class Tag>
class List {
 public:
  List() { head_.prev = head_.next = &head_; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  bool empty() const { return head_.next == &head_; }
  T& front() { return element(head_.next); }
  /// Does nothing when the element is already in a list of this tag.
  void push_back(T& element) { insert_before(&head_, element); }
  void push_front(T& element) { insert_before(head_.next, element); }
  static void remove(T& element) {
    Link<Tag>& link = element;
    if (!link.linked()) return;
    link.prev->next = link.next;
    link.next->prev = link.prev;
    link.prev = link.next = nullptr;
  }
  T& pop_front() {
    T& first = front();
    remove(first);
    return first;
  }
  template <class Each>
  void for_each(Each&& each) {
    for (Link<Tag>* at = head_.next; at != &head_;) {
      Link<Tag>* next = at->next;  // `each` may take its element out
      each(element(at));
      at = next;
    }
  }

 private:
  static T& element(Link<Tag>* link) { return static_cast<T&>(*link); }
  void insert_before(Link<Tag>* at, T& element) {
    Link<Tag>& link = element;
    if (link.linked()) return;
    link.prev = at->prev;
    link.next = at;
    at->prev->next = &link;
    at->prev = &link;
  }

  Link<Tag> head_;
};

}  // namespace mrc::nic
