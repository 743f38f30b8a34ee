// For tests of openmrc/connect.h: queue pairs for two sides of one process, and a listener.
#pragma once

#include <openmrc/connect.h>

#include <string>

#include "lib/api_fixture.h"

namespace mrc::lib {

/// QPs of the fixture's device for both sides; the listener at any free port.
struct Connect : Api {
  Connect() : pd(make_pd()) {
    cq = mrc_create_cq(context, 64, nullptr, nullptr, 0);
    for (mrc_qp*& qp : qps) qp = create();
    EXPECT_EQ(openmrc_listen("127.0.0.1", "0", &listener), 0);
    port = std::to_string(openmrc_listener_port(listener));
  }
  ~Connect() override {
    openmrc_destroy_listener(listener);
    for (mrc_qp* qp : qps) mrc_destroy_qp(qp);
    mrc_destroy_cq(cq);
    device->destroy_pd(pd.id);
  }
  mrc_qp* create() {
    mrc_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.pd = &pd;
    init.cap = {4, 4, 1, 1, 0};
    init.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    return mrc_create_qp(context, &init);
  }
  static ibv_qp_state state(mrc_qp* qp) {
    ibv_qp_attr attr{};
    mrc_query_qp(qp, &attr, IBV_QP_STATE, nullptr, 0, nullptr);
    return attr.qp_state;
  }
  int connect_side(mrc_qp** which, int n, const openmrc_params* params, openmrc_connection** out) {
    const int error = openmrc_connect("127.0.0.1", port.c_str(), verbs->handle(), which, n, params,
                                      "from the client", 15, 5000, out);
    client_error = openmrc_error();
    return error;
  }

  SoftPd pd;
  mrc_cq* cq;
  mrc_qp* qps[4];
  openmrc_listener* listener = nullptr;
  std::string port, client_error;
};

}  // namespace mrc::lib
