/* Stands in for rdma-core's libibverbs on a machine with an RDMA device: one device, fake0, whose calls leave traces. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ibv_device device;
static struct ibv_context context;
static int providers;

struct ibv_device **ibv_get_device_list(int *count) {
  struct ibv_device **list = calloc(2, sizeof *list);
  strcpy(device.name, "fake0");
  device.node_type = IBV_NODE_CA;
  list[0] = &device;
  if (count) *count = 1;
  return list;
}

void ibv_free_device_list(struct ibv_device **list) {
  puts("fake: list freed");
  free(list);
}

__be64 ibv_get_device_guid(struct ibv_device *which) { return which == &device ? 0x1234 : 0; }

struct ibv_context *ibv_open_device(struct ibv_device *which) {
  context.device = which;
  return &context;
}

int ibv_close_device(struct ibv_context *which) {
  puts(which == &context ? "fake: closed" : "fake: closed something else");
  return 0;
}

int ibv_query_device(struct ibv_context *which, struct ibv_device_attr *attr) {
  (void)which;
  memset(attr, 0, sizeof *attr);
  attr->max_qp = 4711;
  return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *which) {
  struct ibv_pd *pd = calloc(1, sizeof *pd);
  pd->context = which;
  return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd) {
  free(pd);
  return 0;
}

void verbs_register_driver_34(const void *operations) {
  (void)operations;
  printf("fake: provider %d\n", ++providers);
}

/* Of the private interface: reached through a trampoline, with all its arguments. */
int ibv_cmd_alloc_pd(long a, long b, long c, long d, long e, long f, long g) {
  return (int)(a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f + 1000000 * g);
}
