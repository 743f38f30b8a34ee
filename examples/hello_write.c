/* hello_write: one side writes a sentence into the other side's memory.
 *
 *   mrc exec -d lo -- ./hello_write             waits for a peer, and says which TCP port it listens on
 *   mrc exec -d lo -- ./hello_write HOST PORT   writes, and waits until the peer has read it
 *
 * Everything that a program needs is here once: a device, memory, a queue pair, a connection, one work
 * request and its completion. Build it with: cc hello_write.c $(pkg-config --cflags --libs openmrc)
 */
#include <errno.h>
#include <openmrc/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct target { /* what the writer has to know about the other side's memory */
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
  fprintf(stderr, "hello_write: %s\n", openmrc_error());
  exit(1);
}

static struct ibv_context* open_first_device(void) {
  struct ibv_device** list = need(ibv_get_device_list(NULL), "no devices: run me under mrc exec");
  struct ibv_context* verbs =
      need(ibv_open_device(need(list[0], "no device: run me under mrc exec")), "open");
  ibv_free_device_list(list);
  return verbs;
}

int main(int argc, char** argv) {
  static char memory[64];
  if (argc == 2 || argc > 3) return fprintf(stderr, "usage: hello_write [HOST PORT]\n"), 2;
  struct ibv_context* verbs = open_first_device();
  struct mrc_context* mrc = need(mrc_create_context(verbs, NULL), "context");
  struct ibv_pd* pd = need(ibv_alloc_pd(verbs), "protection domain");
  struct ibv_mr* mr =
      need(ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE), "memory");
  struct mrc_cq* cq = need(mrc_create_cq(mrc, 16, NULL, NULL, 0), "completion queue");
  struct mrc_qp_init_attr init = {
      .send_cq = cq,
      .recv_cq = cq,
      .pd = pd,
      .cap = {.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1},
      .send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE};
  struct mrc_qp* qp = need(mrc_create_qp(mrc, &init), "queue pair");

  const struct target mine = {(uintptr_t)memory, mr->rkey};
  struct openmrc_connection* connection;
  const int writes = argc == 3;
  if (writes) {
    check(openmrc_connect(argv[1], argv[2], verbs, &qp, 1, NULL, &mine, sizeof mine, 10000, &connection));
  } else {
    struct openmrc_listener* listener;
    check(openmrc_listen(NULL, "0", &listener));
    printf("listening on %d\n", openmrc_listener_port(listener));
    fflush(stdout);
    check(openmrc_accept(listener, verbs, &qp, 1, NULL, &mine, sizeof mine, 60000, &connection));
    openmrc_destroy_listener(listener);
  }

  if (writes) {
    struct target peer;
    size_t size;
    const void* data = openmrc_peer_data(connection, &size);
    if (size != sizeof peer) return fprintf(stderr, "the peer is no hello_write\n"), 1;
    memcpy(&peer, data, sizeof peer);
    strcpy(memory, "hello over many paths");
    struct ibv_sge sge = {(uintptr_t)memory, (uint32_t)strlen(memory) + 1, mr->lkey};
    struct ibv_send_wr *bad, wr = {.wr_id = 1,
                                   .sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_RDMA_WRITE,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .wr.rdma = {peer.address, peer.rkey}};
    if ((errno = mrc_post_send(qp, &wr, &bad)) != 0) return perror("post"), 1;
    struct ibv_wc wc;
    while (mrc_poll_cq(cq, 1, &wc) == 0) continue; /* complete: the bytes are in the peer's memory */
    if (wc.status != IBV_WC_SUCCESS) return fprintf(stderr, "write: %s\n", ibv_wc_status_str(wc.status)), 1;
    printf("written\n");
  }
  size_t none = 0;
  check(
      openmrc_exchange(connection, NULL, 0, NULL, &none, 10000)); /* the writer comes here when it is done */
  if (!writes) printf("my memory says: %s\n", memory);

  openmrc_close(connection, 1000);
  mrc_destroy_qp(qp);
  mrc_destroy_cq(cq);
  ibv_dereg_mr(mr);
  ibv_dealloc_pd(pd);
  mrc_destroy_context(mrc);
  return ibv_close_device(verbs);
}
