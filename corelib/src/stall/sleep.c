/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stall/sleep.c - the tests inside the functions that throttle. */
#include "stall/page.h"

enum { US_PER_S = 1000000 };

/* Models: skip_throttle_noprogress. */
static enum sws_stall_skip skip_noprogress(const struct sws_stall_sleeper *sleeper)
{
	if (sleeper->failures >= SWS_STALL_FAILURES_MAX)
		return SWS_STALL_SKIPPED_FAILURES;
	/*
	 * Twice write_pending could overflow; comparing with half of reclaimable is equivalent and
	 * cannot.
	 */
	if (sleeper->write_pending <= sleeper->reclaimable / 2)
		return SWS_STALL_SKIPPED_FEW_WRITES;
	return SWS_STALL_SLEEPS;
}

/* Models: reclaim_throttle. */
static enum sws_stall_skip throttle(enum sws_stall_sleep sleep,
				    const struct sws_stall_sleeper *sleeper)
{
	if (sleeper->kthread && !sleeper->kswapd)
		return SWS_STALL_SKIPPED_KTHREAD;
	if (sleep == SWS_STALL_SLEEP_CONGESTED || sleep == SWS_STALL_SLEEP_NOPROGRESS)
		return skip_noprogress(sleeper);
	return SWS_STALL_SLEEPS;
}

/* Models: wait_iff_congested. */
static enum sws_stall_skip wait_iff_congested(const struct sws_stall_sleeper *sleeper)
{
	if (!sleeper->congested_devices)
		return SWS_STALL_SKIPPED_NO_DEVICE;
	if (!(sleeper->flags & SWS_STALL_CONGESTED))
		return SWS_STALL_SKIPPED_NO_FLAG;
	return SWS_STALL_SLEEPS;
}

static enum sws_stall_skip skip(enum sws_stall_sleep sleep, const struct sws_stall_sleeper *sleeper)
{
	if (sleep == SWS_STALL_SLEEP_CONGESTION_WAIT)
		return SWS_STALL_SLEEPS;
	if (sleep == SWS_STALL_SLEEP_WAIT_IFF_CONGESTED)
		return wait_iff_congested(sleeper);
	return throttle(sleep, sleeper);
}

/* HZ / 10 is 100 ms, HZ / 50 20 ms. */
static uint64_t ticks_of(enum sws_stall_sleep sleep, uint32_t hz)
{
	if (sleep == SWS_STALL_SLEEP_CONGESTED || sleep == SWS_STALL_SLEEP_NOPROGRESS)
		return 1;
	return sleep == SWS_STALL_SLEEP_ISOLATED ? hz / 50 : hz / 10;
}

int sws_stall_sleep_length(enum sws_stall_sleep sleep, const struct sws_stall_sleeper *sleeper,
			   uint64_t *timeout_us, enum sws_stall_skip *skipped)
{
	if ((unsigned int)sleep > SWS_STALL_SLEEP_WAIT_IFF_CONGESTED ||
	    sleeper->hz < SWS_STALL_HZ_MIN || (sleeper->flags & ~SWS_STALL_FLAGS))
		return SWS_ERROR_BAD_ARGUMENT;
	*skipped = skip(sleep, sleeper);
	*timeout_us = *skipped ? 0 : ticks_of(sleep, sleeper->hz) * US_PER_S / sleeper->hz;
	return SWS_OK;
}

uint16_t sws_stall_ask_nfs(bool page_dirty, bool page_writeback, bool swap_cache, bool committing,
			   bool has_private)
{
	const bool own = swap_cache;
	const bool writeback = page_writeback || (!own && committing);
	const bool dirty = page_dirty || (!own && !committing && has_private);

	return (uint16_t)((dirty ? SWS_STALL_PAGE_FS_DIRTY : 0) |
			  (writeback ? SWS_STALL_PAGE_FS_WRITEBACK : 0));
}
