/* watch_paths: a transfer that lasts for some seconds, and each plane that carries it: is its link up, how
 * many of its paths work?
 *
 *   mrc exec -d eth0,eth1 -- ./watch_paths                     receives
 *   mrc exec -d eth0,eth1 -- ./watch_paths HOST PORT SECONDS   sends, and prints a line per plane and second
 *
 * Pull a cable meanwhile: its plane loses its paths, the others carry on, and no write fails.
 */
#include <errno.h>
#include <openmrc/connect.h>
#include <openmrc/planes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBytes = 1 << 20, kDepth = 8, kMaxPlanes = 32 };

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
  fprintf(stderr, "watch_paths: %s\n", openmrc_error());
  exit(1);
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void show(struct mrc_qp* qp, double at, double gigabits) {
  struct openmrc_plane planes[kMaxPlanes];
  const int count = openmrc_query_planes(qp, planes, kMaxPlanes);
  printf("%5.1f s  %6.2f Gb/s\n", at, gigabits);
  for (int i = 0; i < count; ++i) {
    printf("         plane %u  %-8s link %-4s  %u of %u paths\n", planes[i].port_num,
           planes[i].interface_name, planes[i].link_up ? "up" : "DOWN", planes[i].evs_good, planes[i].evs);
  }
  fflush(stdout);
}

static void post(struct mrc_qp* qp, const struct ibv_mr* mr, const struct target* peer) {
  struct ibv_sge sge = {(uintptr_t)mr->addr, kBytes, mr->lkey};
  struct ibv_send_wr *bad, wr = {.sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_RDMA_WRITE,
                                 .send_flags = IBV_SEND_SIGNALED,
                                 .wr.rdma = {peer->address, peer->rkey}};
  if ((errno = mrc_post_send(qp, &wr, &bad)) != 0) perror("post"), exit(1);
}

/* Keeps kDepth writes in flight, and looks at the planes once a second. */
static void transfer(struct mrc_qp* qp, struct mrc_cq* cq, const struct ibv_mr* mr, const struct target* peer,
                     double duration) {
  const double start = seconds();
  double shown = start;
  unsigned long done = 0, before = 0;
  int in_flight = 0;
  for (double now = start; now < start + duration || in_flight > 0; now = seconds()) {
    while (in_flight < kDepth && now < start + duration) {
      post(qp, mr, peer);
      ++in_flight;
    }
    struct ibv_wc wc;
    while (mrc_poll_cq(cq, 1, &wc) > 0) {
      if (wc.status != IBV_WC_SUCCESS) fprintf(stderr, "write: %s\n", ibv_wc_status_str(wc.status)), exit(1);
      --in_flight;
      ++done;
    }
    if (now - shown < 1 && in_flight > 0) continue; /* and once more when the last write is done */
    show(qp, now - start, (double)(done - before) * kBytes * 8e-9 / (now - shown));
    shown = now;
    before = done;
  }
  printf("%lu MiB, every write completed\n", done);
}

int main(int argc, char** argv) {
  struct ibv_device** list = need(ibv_get_device_list(NULL), "no devices: run me under mrc exec");
  struct ibv_context* verbs =
      need(ibv_open_device(need(list[0], "no device: run me under mrc exec")), "open");
  ibv_free_device_list(list);
  void* memory = need(calloc(1, kBytes), "memory");
  struct mrc_context* mrc = need(mrc_create_context(verbs, NULL), "context");
  struct ibv_pd* pd = need(ibv_alloc_pd(verbs), "protection domain");
  struct ibv_mr* mr =
      need(ibv_reg_mr(pd, memory, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE), "region");
  struct mrc_cq* cq = need(mrc_create_cq(mrc, 2 * kDepth, NULL, NULL, 0), "completion queue");
  struct mrc_qp_init_attr init = {.send_cq = cq,
                                  .recv_cq = cq,
                                  .pd = pd,
                                  .cap = {kDepth, 1, 1, 1, 0},
                                  .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};
  struct mrc_qp* qp = need(mrc_create_qp(mrc, &init), "queue pair");

  const struct target mine = {(uintptr_t)memory, mr->rkey};
  struct openmrc_connection* connection;
  if (argc == 4) {
    check(openmrc_connect(argv[1], argv[2], verbs, &qp, 1, NULL, &mine, sizeof mine, 10000, &connection));
    struct target peer;
    size_t size;
    const void* data = openmrc_peer_data(connection, &size);
    if (size != sizeof peer) return fprintf(stderr, "the peer is no watch_paths\n"), 1;
    memcpy(&peer, data, sizeof peer);
    transfer(qp, cq, mr, &peer, atof(argv[3]));
  } else {
    struct openmrc_listener* listener;
    check(openmrc_listen(NULL, "0", &listener));
    printf("listening on %d\n", openmrc_listener_port(listener));
    fflush(stdout);
    check(openmrc_accept(listener, verbs, &qp, 1, NULL, &mine, sizeof mine, 60000, &connection));
    openmrc_destroy_listener(listener);
  }
  openmrc_close(connection, -1); /* the receiver waits here until the sender says goodbye */
  mrc_destroy_qp(qp);
  mrc_destroy_cq(cq);
  ibv_dereg_mr(mr);
  ibv_dealloc_pd(pd);
  mrc_destroy_context(mrc);
  free(memory);
  return ibv_close_device(verbs);
}
