/* incast: many senders, one receiver, and a hint that tells congestion control so before the first packet.
 *
 *   mrc exec -d lo -- ./incast [SENDERS]                    receives; 8 senders if it is not told
 *   mrc exec -d lo -- ./incast HOST PORT SENDERS [hint]     SENDERS queue pairs write one megabyte each, all
 * at once
 *
 * With "hint" each queue pair says that the receiver hears SENDERS of them, and starts with its share of the
 * window instead of all of it. The slowest queue pair's time is what a collective operation would wait for.
 */
#include <errno.h>
#include <openmrc/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 1 << 20, kMost = 256 };

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
  fprintf(stderr, "incast: %s\n", openmrc_error());
  exit(1);
}

static double milliseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + 1e-6 * (double)t.tv_nsec;
}

static void give_hint(struct mrc_context* mrc, struct mrc_qp** qps, int count, struct mrc_qp_hint** hint) {
  struct mrc_qp_hint_init_attr init = {.attr = {.num_qps_per_peer = 1, .num_remote_recv_peers = count}};
  *hint = need(mrc_create_qp_hint(mrc, &init), "hint");
  struct mrc_qp_attr attr = {.qp_hint = *hint};
  struct ibv_qp_attr verbs = {0};
  for (int i = 0; i < count; ++i) {
    const int error = mrc_modify_qp(qps[i], &verbs, 0, &attr, MRC_QP_HINT);
    if (error != 0) fprintf(stderr, "hint: %s\n", strerror(error)), exit(1);
  }
}

static void write_all(struct mrc_qp** qps, int count, struct mrc_cq* cq, const struct ibv_mr* mr,
                      const struct target* peer) {
  const double start = milliseconds();
  for (int i = 0; i < count; ++i) {
    struct ibv_sge sge = {(uintptr_t)mr->addr, kBytes, mr->lkey};
    struct ibv_send_wr *bad, wr = {.wr_id = (uint64_t)i,
                                   .sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_RDMA_WRITE,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .wr.rdma = {peer->address, peer->rkey}};
    if ((errno = mrc_post_send(qps[i], &wr, &bad)) != 0) perror("post"), exit(1);
  }
  double first = 0;
  for (int done = 0; done < count;) {
    struct ibv_wc wc;
    if (mrc_poll_cq(cq, 1, &wc) == 0) continue;
    if (wc.status != IBV_WC_SUCCESS) fprintf(stderr, "write: %s\n", ibv_wc_status_str(wc.status)), exit(1);
    if (done++ == 0) first = milliseconds() - start;
  }
  const double last = milliseconds() - start;
  printf("%d senders: first done after %.2f ms, last after %.2f ms, %.2f Gb/s together\n", count, first, last,
         (double)count * kBytes * 8e-6 / last);
}

int main(int argc, char** argv) {
  const int sends = argc >= 4;
  struct ibv_device** list = need(ibv_get_device_list(NULL), "no devices: run me under mrc exec");
  struct ibv_context* verbs =
      need(ibv_open_device(need(list[0], "no device: run me under mrc exec")), "open");
  ibv_free_device_list(list);
  void* memory = need(calloc(1, kBytes), "memory");
  struct mrc_context* mrc = need(mrc_create_context(verbs, NULL), "context");
  struct ibv_pd* pd = need(ibv_alloc_pd(verbs), "protection domain");
  struct ibv_mr* mr =
      need(ibv_reg_mr(pd, memory, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE), "region");
  struct mrc_cq* cq = need(mrc_create_cq(mrc, 2 * kMost, NULL, NULL, 0), "completion queue");

  /* Both sides make as many queue pairs; the receiver reads the number from its command line or takes eight.
   */
  const int count = atoi(sends ? argv[3] : argc == 2 ? argv[1] : "8");
  if (count < 1 || count > kMost) return fprintf(stderr, "1 to %d senders\n", kMost), 1;
  struct mrc_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .pd = pd,
                                  .cap = {2, 1, 1, 1, 0},
                                  .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};
  struct mrc_qp* qps[kMost];
  for (int i = 0; i < count; ++i) qps[i] = need(mrc_create_qp(mrc, &init), "queue pair");
  check(openmrc_prepare(qps, count, NULL));
  struct mrc_qp_hint* hint = NULL;
  if (sends && argc > 4 && strcmp(argv[4], "hint") == 0) give_hint(mrc, qps, count, &hint);

  const struct target mine = {(uintptr_t)memory, mr->rkey};
  struct openmrc_connection* connection;
  if (sends) {
    check(openmrc_connect(argv[1], argv[2], verbs, qps, count, NULL, &mine, sizeof mine, 10000, &connection));
    struct target peer;
    size_t size;
    const void* data = openmrc_peer_data(connection, &size);
    if (size != sizeof peer) return fprintf(stderr, "the peer is no incast\n"), 1;
    memcpy(&peer, data, sizeof peer);
    write_all(qps, count, cq, mr, &peer);
  } else {
    struct openmrc_listener* listener;
    check(openmrc_listen(NULL, "0", &listener));
    printf("listening on %d\n", openmrc_listener_port(listener));
    fflush(stdout);
    check(openmrc_accept(listener, verbs, qps, count, NULL, &mine, sizeof mine, 60000, &connection));
    openmrc_destroy_listener(listener);
  }
  openmrc_close(connection, -1);
  for (int i = 0; i < count; ++i) mrc_destroy_qp(qps[i]);
  if (hint != NULL) mrc_destroy_qp_hint(hint);
  mrc_destroy_cq(cq);
  ibv_dereg_mr(mr);
  ibv_dealloc_pd(pd);
  mrc_destroy_context(mrc);
  free(memory);
  return ibv_close_device(verbs);
}
