/*
 * What ops.go measures, with libibverbs: the cost of posting and polling without
 * the kernel, and of registering memory. Prints one line per operation: name,
 * tab, nanoseconds.
 *
 * write() and mmap() are this program's own. While a measurement runs, the
 * doorbell's write() is left out or goes to /dev/null, and the rings that the
 * provider maps are filled and drained here in place of the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { DEPTH = 64, PAGE = 4096, LARGEST = 16 << 20, MAPS = 16 };

static enum { THROUGH, LEFT_OUT, NOWHERE } doorbell;
static int nowhere;
static void *maps[MAPS];
static int nmaps;

ssize_t write(int fd, const void *p, size_t n)
{
	if (doorbell == LEFT_OUT)
		return n;
	return syscall(SYS_write, doorbell == NOWHERE ? nowhere : fd, p, n);
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	long p = syscall(SYS_mmap, addr, len, prot, flags, fd, off);

	if (p != -1 && fd >= 0 && (flags & MAP_SHARED) && nmaps < MAPS)
		maps[nmaps++] = (void *)p;
	return (void *)p;
}

void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return mmap(addr, len, prot, flags, fd, off);
}

/* The head of a ring that soft-RoCE shares with its user. */
struct ring {
	uint32_t log2_size, mask, pad1[30];
	_Atomic uint32_t producer;
	uint32_t pad2[31];
	_Atomic uint32_t consumer;
};

static struct ring *sq, *rq, *cring;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mr *mr;
static char *mem;

static void check(int bad, const char *what)
{
	if (bad) {
		fprintf(stderr, "%s: %s\n", what, strerror(errno));
		exit(1);
	}
}

static void drain(struct ring *r) { r->consumer = r->producer; }

static void post_sends(int n, int per, int inlined)
{
	struct ibv_sge sge = { (uintptr_t)mem, inlined ? 32 : 64, mr->lkey };
	struct ibv_send_wr wrs[DEPTH], *bad;
	int i, done, posted;

	memset(wrs, 0, sizeof wrs);
	for (i = 0; i < per; i++) {
		wrs[i].wr_id = i;
		wrs[i].next = i + 1 < per ? &wrs[i + 1] : NULL;
		wrs[i].sg_list = &sge;
		wrs[i].num_sge = 1;
		wrs[i].opcode = IBV_WR_SEND;
		wrs[i].send_flags = IBV_SEND_SIGNALED | (inlined ? IBV_SEND_INLINE : 0);
	}
	for (done = 0; done < n; done += DEPTH) {
		for (posted = 0; posted < DEPTH; posted += per)
			check(ibv_post_send(qp, wrs, &bad), "post send");
		drain(sq);
	}
}

static void send_one(int n) { post_sends(n, 1, 0); }
static void send_list(int n) { post_sends(n, 16, 0); }
static void send_inline(int n) { post_sends(n, 1, 1); }

static void send_nowhere(int n)
{
	doorbell = NOWHERE;
	post_sends(n, 1, 0);
	doorbell = LEFT_OUT;
}

static void post_recvs(int n)
{
	struct ibv_sge sge = { (uintptr_t)mem, 64, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;
	int done, posted;

	for (done = 0; done < n; done += DEPTH) {
		for (posted = 0; posted < DEPTH; posted++)
			check(ibv_post_recv(qp, &wr, &bad), "post receive");
		drain(rq);
	}
}

static void poll(int n, int per)
{
	struct ibv_wc wcs[DEPTH];
	int done, got, k;

	for (done = 0; done < n; done += DEPTH) {
		cring->producer = (cring->consumer + DEPTH) & cring->mask;
		for (got = 0; got < DEPTH; got += k) {
			k = ibv_poll_cq(cq, per, wcs);
			check(k <= 0, "poll");
		}
	}
}

static void poll_one(int n) { poll(n, 1); }
static void poll_many(int n) { poll(n, 16); }

static void poll_none(int n)
{
	struct ibv_wc wc;

	while (n--)
		check(ibv_poll_cq(cq, 1, &wc), "poll");
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void measure(const char *name, void (*run)(int), int n)
{
	double begin;

	run(n / 8);
	begin = now();
	run(n);
	printf("%s\t%.1f\n", name, (now() - begin) / n);
}

static size_t size;

static void register_memory(int n)
{
	while (n--) {
		struct ibv_mr *m = ibv_reg_mr(pd, mem, size, IBV_ACCESS_LOCAL_WRITE);

		check(!m || ibv_dereg_mr(m), "register");
	}
}

static void set_up(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c = NULL;
	struct ibv_recv_wr *bad, wr = { 0 };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { DEPTH, DEPTH, 1, 1, 64 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	for (; list && *list; list++)
		if (!strcmp(ibv_get_device_name(*list), name))
			c = ibv_open_device(*list);
	check(!c, name);
	pd = ibv_alloc_pd(c);
	check(!pd, "protection domain");
	mem = aligned_alloc(PAGE, LARGEST);
	check(!mem, "memory");
	memset(mem, 1, LARGEST);
	mr = ibv_reg_mr(pd, mem, PAGE, IBV_ACCESS_LOCAL_WRITE);
	check(!mr, "memory region");
	nmaps = 0;
	cq = init.send_cq = init.recv_cq = ibv_create_cq(c, DEPTH, NULL, NULL, 0);
	check(!cq || nmaps != 1, "completion queue");
	cring = maps[0];
	nmaps = 0;
	qp = ibv_create_qp(pd, &init);
	check(!qp || nmaps != 2, "queue pair");
	check(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
	check(ibv_post_recv(qp, &wr, &bad), "first receive"); /* shows which ring is which */
	rq = ((struct ring *)maps[0])->producer ? maps[0] : maps[1];
	sq = rq == maps[0] ? maps[1] : maps[0];
	drain(rq);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) / DEPTH * DEPTH : 0;
	char name[64];

	if (n < 8 * DEPTH) {
		fprintf(stderr, "usage: verbbench-c DEVICE OPERATIONS\n");
		return 2;
	}
	nowhere = open("/dev/null", O_WRONLY);
	check(nowhere < 0, "/dev/null");
	set_up(argv[1]);
	doorbell = LEFT_OUT;
	measure("post send", send_one, n);
	measure("post send, list of 16", send_list, n);
	measure("post send, 32 bytes inline", send_inline, n);
	measure("post send, doorbell to /dev/null", send_nowhere, n);
	measure("post receive", post_recvs, n);
	measure("poll", poll_one, n);
	measure("poll, up to 16 at once", poll_many, n);
	measure("poll, nothing there", poll_none, n);
	doorbell = THROUGH;
	for (size = PAGE; size <= LARGEST; size *= 16) {
		snprintf(name, sizeof name, "register and deregister %zu KiB", size >> 10);
		measure(name, register_memory, size < 1 << 20 ? 400 : 40);
	}
	return fflush(stdout) ? 1 : 0;
}
