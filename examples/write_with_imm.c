/* write_with_imm: each write wakes the other side with a number, in the order in which it was posted.
 *
 *   mrc exec -d lo -- ./write_with_imm             receives, asleep between messages
 *   mrc exec -d lo -- ./write_with_imm HOST PORT   sends ten messages
 *
 * Packets of a message travel over many paths and arrive in any order; immediates are delivered in order all
 * the same.
 */
#include <errno.h>
#include <openmrc/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMessages = 10, kBytes = 100000 };

struct target {
  uint64_t address;
  uint32_t rkey;
};

static void* need(void* object, const char* what) {
  if (object == NULL) {
    perror(what);
    exit(1);
  }
  return object;
}

static void check(int error) {
  if (error == 0) return;
  fprintf(stderr, "write_with_imm: %s\n", openmrc_error());
  exit(1);
}

/* Waits for the next completion without polling: arm, look once more, sleep. */
static struct ibv_wc next(struct mrc_comp_channel* channel, struct mrc_cq* cq) {
  struct ibv_wc wc;
  while (mrc_poll_cq(cq, 1, &wc) == 0) {
    mrc_req_notify_cq(cq, 0);
    if (mrc_poll_cq(cq, 1, &wc) != 0) break;
    void* context;
    if (mrc_get_cq_event(channel, &cq, &context) != 0) perror("event"), exit(1);
    mrc_ack_cq_events(cq, 1);
  }
  if (wc.status != IBV_WC_SUCCESS) fprintf(stderr, "%s\n", ibv_wc_status_str(wc.status)), exit(1);
  return wc;
}

int main(int argc, char** argv) {
  struct ibv_device** list = need(ibv_get_device_list(NULL), "no devices: run me under mrc exec");
  struct ibv_context* verbs =
      need(ibv_open_device(need(list[0], "no device: run me under mrc exec")), "open");
  ibv_free_device_list(list);
  char* memory = need(calloc(kMessages, kBytes), "memory");
  struct mrc_context* mrc = need(mrc_create_context(verbs, NULL), "context");
  struct ibv_pd* pd = need(ibv_alloc_pd(verbs), "protection domain");
  struct ibv_mr* mr = need(
      ibv_reg_mr(pd, memory, (size_t)kMessages * kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      "region");
  struct mrc_comp_channel* channel = NULL;
  if ((errno = mrc_create_comp_channel(mrc, &channel)) != 0) return perror("channel"), 1;
  struct mrc_cq* cq = need(mrc_create_cq(mrc, 2 * kMessages, NULL, channel, 0), "completion queue");
  struct mrc_qp_init_attr init = {
      .send_cq = cq,
      .recv_cq = cq,
      .pd = pd,
      .cap = {.max_send_wr = kMessages, .max_recv_wr = kMessages, .max_send_sge = 1, .max_recv_sge = 1},
      .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM};
  struct mrc_qp* qp = need(mrc_create_qp(mrc, &init), "queue pair");

  const int sends = argc == 3;
  const struct target mine = {(uintptr_t)memory, mr->rkey};
  struct openmrc_connection* connection;
  if (sends) {
    check(openmrc_connect(argv[1], argv[2], verbs, &qp, 1, NULL, &mine, sizeof mine, 10000, &connection));
    struct target peer;
    size_t size;
    const void* data = openmrc_peer_data(connection, &size);
    if (size != sizeof peer) return fprintf(stderr, "the peer is no write_with_imm\n"), 1;
    memcpy(&peer, data, sizeof peer);
    for (uint32_t i = 0; i < kMessages; ++i) {
      memset(memory + i * kBytes, 'a' + (int)i, kBytes);
      struct ibv_sge sge = {(uintptr_t)memory + i * kBytes, kBytes, mr->lkey};
      struct ibv_send_wr *bad,
          wr = {.wr_id = i,
                .sg_list = &sge,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                .send_flags = IBV_SEND_SIGNALED,
                .imm_data = i, /* both sides of this example agree on the byte order: none */
                .wr.rdma = {peer.address + i * kBytes, peer.rkey}};
      if ((errno = mrc_post_send(qp, &wr, &bad)) != 0) return perror("post"), 1;
    }
    for (int i = 0; i < kMessages; ++i) next(channel, cq);
    printf("sent %d\n", kMessages);
  } else {
    /* Receives first: an immediate that finds none ends both queue pairs. */
    check(openmrc_prepare(&qp, 1, NULL));
    for (int i = 0; i < kMessages; ++i) {
      struct ibv_recv_wr *bad, wr = {.wr_id = (uint64_t)i};
      if ((errno = mrc_post_recv(qp, &wr, &bad)) != 0) return perror("receive"), 1;
    }
    struct openmrc_listener* listener;
    check(openmrc_listen(NULL, "0", &listener));
    printf("listening on %d\n", openmrc_listener_port(listener));
    fflush(stdout);
    check(openmrc_accept(listener, verbs, &qp, 1, NULL, &mine, sizeof mine, 60000, &connection));
    openmrc_destroy_listener(listener);
    for (int i = 0; i < kMessages; ++i) {
      const struct ibv_wc wc = next(channel, cq);
      const char* message = memory + wc.imm_data * kBytes;
      printf("message %u: %u bytes of '%c' to '%c'\n", wc.imm_data, wc.byte_len, message[0],
             message[kBytes - 1]);
    }
  }
  openmrc_close(connection, 5000);
  mrc_destroy_qp(qp);
  mrc_destroy_cq(cq);
  mrc_destroy_comp_channel(channel);
  ibv_dereg_mr(mr);
  ibv_dealloc_pd(pd);
  mrc_destroy_context(mrc);
  free(memory);
  return ibv_close_device(verbs);
}
