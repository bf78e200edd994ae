/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ours, for the lab kernel: when a device is congested with writes, as in 2013 and in 6.1 no more. A device is marked
 * once seven of eight of the requests that it may have for writes that nobody waits for are in use, and loses the mark below
 * about thirteen of sixteen. In 2013 they were 128 and those of reads besides; 6.1 has one pool for both, 256 as a rule. So half of
 * what its queue may have counts, and 128 at most:
 *
 *   writes   0 ........ 102 | 103 ......... 112 | 113 ........ 128
 *            mark is lost     mark stays as it is  mark is set
 *
 * Who stalls is woken by each such write that ends on a device below the lower mark, whether it was marked or not.
 */
#ifndef _LINUX_WRITE_CONGESTION_H
#define _LINUX_WRITE_CONGESTION_H

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>

/* Both are in mm/reclaim_rules.h. */
void set_write_congested(struct backing_dev_info *bdi);
void clear_write_congested(struct backing_dev_info *bdi);

static inline bool is_async_write(struct request *request)
{
	return !op_is_sync(request->cmd_flags) && request->q->disk;
}

static inline int writes_allowed(struct request *request)
{
	return min_t(int, request->q->nr_requests / 2, BLKDEV_DEFAULT_RQ);
}

static inline void write_request_begins(struct request *request)
{
	int allowed = writes_allowed(request);
	struct backing_dev_info *bdi;

	if (!is_async_write(request))
		return;
	bdi = request->q->disk->bdi;
	if (atomic_inc_return(&bdi->async_writes) >= min(allowed, allowed - allowed / 8 + 1))
		set_write_congested(bdi);
}

static inline void write_request_ends(struct request *request)
{
	int allowed = writes_allowed(request);
	struct backing_dev_info *bdi;

	if (!is_async_write(request))
		return;
	bdi = request->q->disk->bdi;
	if (atomic_dec_return(&bdi->async_writes) <
	    max(1, allowed - allowed / 8 - allowed / 16 - 1))
		clear_write_congested(bdi);
}

#endif
