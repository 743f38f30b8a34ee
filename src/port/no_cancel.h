// No cancellation (pthread_cancel) while an object of this lives.
//
// An application may cancel a thread that is inside one of our calls. Most system calls are places where that
// takes effect, and there a device would be left locked and half changed. So calls that hold a device have no
// such place: the rare system calls are made under this, which costs two locked instructions; those of every
// packet are in system_calls.h.
#pragma once

#include <pthread.h>

namespace mrc::port {

class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace mrc::port
