// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the instructions of reclaim for pages of one file, in a guest whose clock counts instructions.
 *
 * A program opens /proc/redirty_cost, writes "MODE FD" and reads one number per list of 32 pages of the file FD: the ticks of
 * the CPU's clock between the beginning and the end of the list. The modes:
 *
 *   loop          no pages: a loop of 32,000 instructions, so that a tick's instructions are known
 *   skipped       reclaim's own function for a list; the task may not write file pages: a dirty page is marked and put back
 *   written       the same as kswapd, which writes a dirty page; ext4 dirties it again, since it has no block yet
 *   dropped       the same as skipped, for clean pages: each is removed from the file and freed
 *   redirtied     per page: lock, clear dirty for IO, dirty again as a file system does that cannot write, unlock
 *   file-system   per page: lock, clear dirty for IO, the file system's own writepage
 *
 * written - skipped is the cost of the write; file-system - redirtied is the file system's own part of it. The rules of 3.9
 * (reclaim_rules=3.9) end both kinds of a page in the same way: it is unlocked and put back.
 *
 * The functions of reclaim are not exported. A probe on each gives its address.
 */
#include <linux/file.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/timex.h>
#include <linux/uaccess.h>
#include <linux/writeback.h>

#define LIST_PAGES 32
#define LISTS      1024
#define LOOPS      16000

static unsigned long (*reclaim_list)(struct list_head *folios);
static int (*isolate)(struct folio *folio);

static u32 ticks[LISTS];
static unsigned int lists;

static void *address_of(const char *function)
{
	struct kprobe probe = { .symbol_name = function };
	void *address = NULL;

	if (register_kprobe(&probe))
		return NULL;
	address = probe.addr;
	unregister_kprobe(&probe);
	return address;
}

static u32 time_loop(void)
{
	unsigned long left = LOOPS;
	u64 begin = rdtsc();

	/* Two instructions each. */
	asm volatile("1: decq %0\n\tjnz 1b" : "+r"(left));
	return (u32)(rdtsc() - begin);
}

/* Reclaim's function for a list, on pages that are isolated before and put back by it. */
static int time_list(struct address_space *mapping, pgoff_t first, bool as_kswapd, u32 *took)
{
	LIST_HEAD(folios);
	unsigned int flags = current->flags & PF_KSWAPD;
	unsigned int isolated = 0;
	u64 begin = 0;
	pgoff_t i;

	for (i = first; i < first + LIST_PAGES; i++) {
		struct folio *folio = filemap_get_folio(mapping, i);

		if (!folio)
			continue;
		if (isolate(folio) == 0) {
			list_add(&folio->lru, &folios);
			isolated++;
		}
		folio_put(folio);
	}
	if (as_kswapd)
		current->flags |= PF_KSWAPD;
	begin = rdtsc();
	reclaim_list(&folios);
	*took = (u32)(rdtsc() - begin);
	current->flags = (current->flags & ~PF_KSWAPD) | flags;
	return isolated == LIST_PAGES ? 0 : -ENODATA;
}

static int time_pages(struct address_space *mapping, pgoff_t first, bool file_system, u32 *took)
{
	struct folio *folios[LIST_PAGES] = { NULL };
	struct writeback_control wbc = {
		.sync_mode = WB_SYNC_NONE,
		.nr_to_write = LIST_PAGES,
		.range_end = LLONG_MAX,
		.for_reclaim = 1,
	};
	int error = 0;
	u64 begin = 0;
	int i;

	for (i = 0; i < LIST_PAGES; i++) {
		folios[i] = filemap_get_folio(mapping, first + i);
		if (!folios[i])
			error = -ENODATA;
	}
	begin = rdtsc();
	for (i = 0; i < LIST_PAGES && !error; i++) {
		folio_lock(folios[i]);
		if (!folio_clear_dirty_for_io(folios[i]))
			error = -EINVAL;
		if (file_system && !error) {
			error = mapping->a_ops->writepage(&folios[i]->page, &wbc);
			continue;
		}
		folio_redirty_for_writepage(&wbc, folios[i]);
		folio_unlock(folios[i]);
	}
	*took = (u32)(rdtsc() - begin);
	for (i = 0; i < LIST_PAGES; i++) {
		if (!folios[i])
			continue;
		/* Each page came back dirty, and no write was submitted. */
		if (!folio_test_dirty(folios[i]) || folio_test_writeback(folios[i]))
			error = -EIO;
		folio_put(folios[i]);
	}
	return error;
}

static int time_mode(const char *mode, struct address_space *mapping, pgoff_t first, u32 *took)
{
	if (!strcmp(mode, "skipped") || !strcmp(mode, "written") || !strcmp(mode, "dropped"))
		return time_list(mapping, first, mode[0] == 'w', took);
	if (!strcmp(mode, "redirtied") || !strcmp(mode, "file-system"))
		return time_pages(mapping, first, mode[0] == 'f', took);
	if (strcmp(mode, "loop"))
		return -EINVAL;
	*took = time_loop();
	return 0;
}

static ssize_t count(struct file *unused, const char __user *text, size_t length, loff_t *offset)
{
	char request[32] = { 0 };
	char mode[16] = { 0 };
	unsigned int fd = 0;
	unsigned int asked_lists = 0;
	struct fd opened;
	ssize_t result = length;

	if (length >= sizeof(request) || copy_from_user(request, text, length))
		return -EINVAL;
	if (sscanf(request, "%15s %u", mode, &fd) != 2)
		return -EINVAL;
	opened = fdget(fd);
	if (!opened.file)
		return -EBADF;
	/* The last pages of the file are not on a list yet: they wait in the batch of the CPU. */
	asked_lists = min_t(u64, LISTS + 1,
			    i_size_read(file_inode(opened.file)) / (LIST_PAGES * PAGE_SIZE));
	if (asked_lists)
		asked_lists--;
	for (lists = 0; lists < asked_lists; lists++) {
		int error = time_mode(mode, opened.file->f_mapping, (pgoff_t)lists * LIST_PAGES,
				      &ticks[lists]);

		if (error) {
			result = error;
			break;
		}
	}
	fdput(opened);
	return result;
}

static int show(struct seq_file *report, void *unused)
{
	unsigned int i;

	for (i = 0; i < lists; i++)
		seq_printf(report, "%u\n", ticks[i]);
	return 0;
}

static int open_counts(struct inode *inode, struct file *file)
{
	return single_open_size(file, show, NULL, LISTS * 12);
}

static const struct proc_ops operations = {
	.proc_open = open_counts,
	.proc_write = count,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init redirty_cost_init(void)
{
	reclaim_list = address_of("reclaim_pages");
	isolate = address_of("folio_isolate_lru");
	if (!reclaim_list || !isolate)
		return -ENOENT;
	return proc_create("redirty_cost", 0600, NULL, &operations) ? 0 : -ENOMEM;
}

/* Without an exit: the module stays as long as the guest. */
module_init(redirty_cost_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts the instructions of a write by reclaim that comes back dirty");
