// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A disk with one head, in the guest's own time.
 *
 * A request costs a seek, unless it begins where the one before it ended, and then its bytes at a
 * fixed rate. One request is served at a time, so the others wait in the elevator, which merges and
 * sorts them. Nothing is cached: a write that is done is on the disk.
 *
 *      head ----seek----> sector ========bytes at the rate========> done, head is here
 *
 * The bytes lie in memory that the kernel was told to leave alone (memmap=SIZE$START), so the disk
 * takes nothing of the memory that reclaim is about. What is there when the guest starts is the
 * disk's content.
 *
 *      slow_disk.start=ADDRESS slow_disk.bytes=SIZE slow_disk.rate=BYTES_PER_SECOND slow_disk.seek_us=TIME
 *
 * Without a size there is no disk. Copying the bytes is the CPU's work here, a few microseconds a
 * page; a real disk would do it itself.
 */
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/module.h>

#define NAME "slow"
/* The largest request, as on a SATA disk, and the numbers kept for the disk and its partitions. */
#define LARGEST_SECTORS 1024
#define MINORS          8

static unsigned long long start;
module_param(start, ullong, 0444);
MODULE_PARM_DESC(start, "physical address of the disk's memory");

static unsigned long bytes;
module_param(bytes, ulong, 0444);
MODULE_PARM_DESC(bytes, "size of the disk");

static unsigned long rate = 10000000;
module_param(rate, ulong, 0444);
MODULE_PARM_DESC(rate, "bytes a second, read or written");

static unsigned long seek_us = 8000;
module_param(seek_us, ulong, 0444);
MODULE_PARM_DESC(seek_us, "microseconds to reach a sector that is not the next one");

static struct {
	void *memory;
	sector_t head;
	struct request *served;
	struct hrtimer timer;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
} slow;

static u64 service_ns(sector_t sector, unsigned int length)
{
	u64 seek_ns = sector == slow.head ? 0 : (u64)seek_us * NSEC_PER_USEC;

	return seek_ns + div64_ul((u64)length * NSEC_PER_SEC, rate);
}

static void transfer(struct request *rq)
{
	struct req_iterator iterator;
	struct bio_vec piece;
	void *place = slow.memory + (blk_rq_pos(rq) << SECTOR_SHIFT);

	rq_for_each_segment (piece, rq, iterator) {
		if (rq_data_dir(rq) == WRITE)
			memcpy_from_bvec(place, &piece);
		else
			memcpy_to_bvec(&piece, place);
		place += piece.bv_len;
	}
}

static enum hrtimer_restart request_done(struct hrtimer *timer)
{
	struct request *rq = slow.served;

	slow.served = NULL;
	blk_mq_complete_request(rq);
	return HRTIMER_NORESTART;
}

static void complete_rq(struct request *rq)
{
	blk_mq_end_request(rq, BLK_STS_OK);
}

/* The queue has one tag: there is no second request before the first one's end. */
static blk_status_t queue_rq(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *queued)
{
	struct request *rq = queued->rq;
	u64 service = 0;

	if (req_op(rq) != REQ_OP_READ && req_op(rq) != REQ_OP_WRITE)
		return BLK_STS_NOTSUPP;
	blk_mq_start_request(rq);
	service = service_ns(blk_rq_pos(rq), blk_rq_bytes(rq));
	transfer(rq);
	slow.head = blk_rq_pos(rq) + blk_rq_sectors(rq);
	slow.served = rq;
	hrtimer_start(&slow.timer, ns_to_ktime(service), HRTIMER_MODE_REL);
	return BLK_STS_OK;
}

static const struct blk_mq_ops slow_queue = {
	.queue_rq = queue_rq,
	.complete = complete_rq,
};

static const struct block_device_operations slow_operations = {
	.owner = THIS_MODULE,
};

static int __init slow_disk_init(void)
{
	int error = 0;
	int major = 0;

	if (bytes == 0)
		return 0;
	if (rate == 0)
		return -EINVAL;
	slow.memory = memremap(start, bytes, MEMREMAP_WB);
	if (!slow.memory)
		return -ENOMEM;
	hrtimer_init(&slow.timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	slow.timer.function = request_done;
	slow.tags.ops = &slow_queue;
	slow.tags.nr_hw_queues = 1;
	slow.tags.queue_depth = 1;
	slow.tags.numa_node = NUMA_NO_NODE;
	slow.tags.flags = BLK_MQ_F_SHOULD_MERGE;
	error = blk_mq_alloc_tag_set(&slow.tags);
	if (error)
		goto unmap;
	slow.disk = blk_mq_alloc_disk(&slow.tags, NULL);
	if (IS_ERR(slow.disk)) {
		error = PTR_ERR(slow.disk);
		goto free_tags;
	}
	major = register_blkdev(0, NAME);
	if (major < 0) {
		error = major;
		goto free_disk;
	}
	blk_queue_max_hw_sectors(slow.disk->queue, LARGEST_SECTORS);
	slow.disk->major = major;
	slow.disk->minors = MINORS;
	slow.disk->fops = &slow_operations;
	strscpy(slow.disk->disk_name, NAME, sizeof(slow.disk->disk_name));
	set_capacity(slow.disk, bytes >> SECTOR_SHIFT);
	error = add_disk(slow.disk);
	if (!error)
		return 0;
	unregister_blkdev(major, NAME);
free_disk:
	put_disk(slow.disk);
free_tags:
	blk_mq_free_tag_set(&slow.tags);
unmap:
	memunmap(slow.memory);
	return error;
}
/* After the timers that it needs, and once for all: the disk stays as long as the kernel. */
late_initcall(slow_disk_init);
