/* RMA writes over libfabric: bandwidth (a window of writes in flight) and half round trip (8 bytes, each side polls its memory).
 *   fabric_write LOCAL PROVIDER                     the side that is written to
 *   fabric_write LOCAL PROVIDER PEER SIZE SECONDS   the side that writes; prints {"gbps": ..., "half_rtt_us": ...}
 * Debian has no fabtests, so this is as small a client as the library allows. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { OOB_PORT = 47777, WINDOW = 16, REGION = 64 << 20, PINGS = 2000 };

struct card { /* what each side must know of the other */
  char name[128];
  uint64_t name_size, address, key;
};

static struct fi_info* info;
static struct fid_domain* domain;
static struct fid_cq* cq;
static struct fid_ep* ep;
static struct fid_av* av;
static struct fid_mr* mr;
static fi_addr_t peer;
static char* region;
static struct card mine, theirs;

static void must(long result, const char* what) {
  if (result >= 0) return;
  fprintf(stderr, "fabric_write: %s: %s\n", what, fi_strerror((int)-result));
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}

static void open_fabric(const char* local, const char* provider) {
  struct fi_info* hints = fi_allocinfo();
  struct fid_fabric* fabric;
  struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT, .size = 4 * WINDOW};
  struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_MSG | FI_RMA;
  hints->mode = FI_CONTEXT;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
  hints->fabric_attr->prov_name = strdup(provider);
  must(fi_getinfo(FI_VERSION(1, 15), local, NULL, FI_SOURCE, hints, &info), "fi_getinfo");
  must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  must(fi_cq_open(domain, &cq_attr, &cq, NULL), "fi_cq_open");
  must(fi_av_open(domain, &av_attr, &av, NULL), "fi_av_open");
  must(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
  must(fi_ep_bind(ep, &av->fid, 0), "bind the address vector");
  must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "bind the completion queue");
  must(fi_enable(ep), "fi_enable");
  region = aligned_alloc(4096, REGION);
  memset(region, 0, REGION);
  must(fi_mr_reg(domain, region, REGION, FI_WRITE | FI_REMOTE_WRITE, 0, 1, 0, &mr, NULL), "fi_mr_reg");
}

static int oob(const char* local, const char* peer_address) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(OOB_PORT)};
  int s = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  inet_pton(AF_INET, peer_address ? peer_address : local, &a.sin_addr);
  if (peer_address) {
    for (int i = 0; connect(s, (struct sockaddr*)&a, sizeof a) < 0; ++i) {
      if (i == 100) return -1;
      usleep(50000);
    }
    return s;
  }
  setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(s, (struct sockaddr*)&a, sizeof a) < 0 || listen(s, 1) < 0) return -1;
  return accept(s, NULL, NULL);
}

static void swap_cards(int s) {
  size_t size = sizeof mine.name;
  must(fi_getname(&ep->fid, mine.name, &size), "fi_getname");
  mine.name_size = size;
  mine.address = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) ? (uint64_t)region : 0;
  mine.key = fi_mr_key(mr);
  if (write(s, &mine, sizeof mine) != sizeof mine || recv(s, &theirs, sizeof theirs, MSG_WAITALL) != sizeof theirs) exit(1);
  if (fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) != 1) exit(1);
}

/* Completions of our own writes; asking also moves the library along. */
static int completions(void) {
  struct fi_cq_entry done[WINDOW];
  const ssize_t n = fi_cq_read(cq, done, WINDOW);
  if (n == -FI_EAGAIN) return 0;
  must(n, "fi_cq_read");
  return (int)n;
}

static void post(size_t size, uint64_t at, struct fi_context* context) {
  ssize_t r;
  while ((r = fi_write(ep, region + at, size, fi_mr_desc(mr), peer, theirs.address + at, theirs.key, context)) == -FI_EAGAIN)
    completions();
  must(r, "fi_write");
}

static double stream(size_t size, double seconds) {
  static struct fi_context contexts[WINDOW];
  const double start = now();
  uint64_t posted = 0, done = 0;
  while (now() - start < seconds || done < posted) {
    while (posted - done < WINDOW && now() - start < seconds) {
      post(size, posted % WINDOW * size, &contexts[posted % WINDOW]);
      ++posted;
    }
    done += (uint64_t)completions();
  }
  return (double)done * (double)size * 8 / (now() - start) / 1e9;
}

/* Counts up in the first eight bytes of the upper half; each side waits for its number and answers. */
static void exchange(int first, int rounds) {
  static struct fi_context context;
  const uint64_t in = REGION / 2, out = REGION / 2 + 64;
  volatile uint64_t* arrived = (volatile uint64_t*)(region + in);
  for (uint64_t i = 1; i <= (uint64_t)rounds; ++i) {
    for (int step = 0; step < 2; ++step) {
      if ((step == 0) != first) {
        while (*arrived != i) completions();
        continue;
      }
      *(uint64_t*)(region + out) = i;
      ssize_t r;
      while ((r = fi_write(ep, region + out, 8, fi_mr_desc(mr), peer, theirs.address + in, theirs.key, &context)) == -FI_EAGAIN)
        completions();
      must(r, "fi_write");
      while (completions() == 0) {
      }
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 3 && argc != 6) return fprintf(stderr, "usage: fabric_write LOCAL PROVIDER [PEER SIZE SECONDS]\n"), 2;
  const char* peer_address = argc == 6 ? argv[3] : NULL;
  open_fabric(argv[1], argv[2]);
  const int s = oob(argv[1], peer_address);
  if (s < 0) return perror("fabric_write: connect"), 1;
  swap_cards(s);
  char byte = 0;
  if (peer_address) {
    exchange(1, 100);
    /* The second exchange counts from 1 again: both sides clear what the first one left, the peer before we begin. */
    if (recv(s, &byte, 1, MSG_WAITALL) != 1) return 1;
    *(volatile uint64_t*)(region + REGION / 2) = 0;
    const double begin = now();
    exchange(1, PINGS);
    const double half = (now() - begin) / PINGS / 2 * 1e6;
    const double gbps = stream((size_t)atol(argv[4]), atof(argv[5]));
    if (write(s, &byte, 1) != 1) return 1;
    printf("{\"gbps\": %.3f, \"half_rtt_us\": %.3f}\n", gbps, half);
  } else {
    exchange(0, 100);
    *(volatile uint64_t*)(region + REGION / 2) = 0;
    if (write(s, &byte, 1) != 1) return 1;
    exchange(0, PINGS);
    while (recv(s, &byte, 1, MSG_DONTWAIT) != 1) completions();
  }
  return 0;
}
