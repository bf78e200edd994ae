# SPDX-License-Identifier: GPL-2.0-or-later
"""Events whose fields are known before the first row: their types, and texts that are no key=value.

Names of fields are those that the text prints, words joined by an underscore;
where the text prints none, those of the event's own structure. Read from the
TP_printk lines of include/trace/events in Linux 6.1 (and 5.8 where it differs).
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownEvent:
    """What is known of one or more events that print alike.

    Attributes
    ----------
    names : str
        The events, separated by spaces; so are the fields of each type below.
    decimal : str
        Fields printed in decimal: Int64.
    pointer : str
        Fields printed as 0x... or as the 16 digits of %p: UInt64.
    hexadecimal : str
        Fields printed in hexadecimal without 0x: UInt64.
    string : str
        Anything else: String.
    texts : tuple of str
        How the event prints what is not key=value: a field stands in braces, {} where key=value
        words follow. The first that fits a line is taken.
    """

    names: str
    decimal: str = ""
    pointer: str = ""
    hexadecimal: str = ""
    string: str = ""
    texts: tuple[str, ...] = ()


_PROBES = (
    KnownEvent(names="swp_add swp_del", pointer="folio entry"),
    KnownEvent(names="swp_free", pointer="entry"),
    KnownEvent(names="wb_start wb_end", pointer="folio"),
)
"""Kprobes that replays look for (design: names that replays look for)."""

_VMSCAN = (
    KnownEvent(names="mm_vmscan_kswapd_sleep", decimal="nid"),
    KnownEvent(names="mm_vmscan_kswapd_wake", decimal="nid order"),
    KnownEvent(
        names="mm_vmscan_wakeup_kswapd mm_vmscan_node_reclaim_begin",
        decimal="nid order",
        string="gfp_flags",
    ),
    KnownEvent(
        names="mm_vmscan_direct_reclaim_begin mm_vmscan_memcg_reclaim_begin "
        "mm_vmscan_memcg_softlimit_reclaim_begin",
        decimal="order",
        string="gfp_flags",
    ),
    KnownEvent(
        names="mm_vmscan_direct_reclaim_end mm_vmscan_memcg_reclaim_end "
        "mm_vmscan_memcg_softlimit_reclaim_end mm_vmscan_node_reclaim_end",
        decimal="nr_reclaimed",
    ),
    KnownEvent(
        names="mm_shrink_slab_start",
        decimal="nid objects_to_shrink cache_items delta total_scan priority",
        pointer="shr",
        string="shrink gfp_flags",
        texts=(
            "{shrink} {shr}: nid: {nid} objects to shrink {objects_to_shrink} "
            "gfp_flags {gfp_flags} cache items {cache_items} delta {delta} "
            "total_scan {total_scan} priority {priority}{}",
        ),
    ),
    KnownEvent(
        names="mm_shrink_slab_end",
        decimal="nid unused_scan_count new_scan_count total_scan last_shrinker_return_val",
        pointer="shr",
        string="shrink",
        texts=(
            "{shrink} {shr}: nid: {nid} unused scan count {unused_scan_count} "
            "new scan count {new_scan_count} total_scan {total_scan} "
            "last shrinker return val {last_shrinker_return_val}{}",
        ),
    ),
    KnownEvent(
        names="mm_vmscan_lru_isolate",
        decimal="isolate_mode classzone order nr_requested nr_scanned nr_skipped nr_taken",
        string="lru",
    ),
    KnownEvent(
        names="mm_vmscan_write_folio mm_vmscan_writepage", pointer="page pfn", string="flags"
    ),
    KnownEvent(
        names="mm_vmscan_lru_shrink_inactive",
        decimal="nid nr_scanned nr_reclaimed nr_dirty nr_writeback nr_congested nr_immediate "
        "nr_activate_anon nr_activate_file nr_ref_keep nr_unmap_fail priority",
        string="flags",
    ),
    KnownEvent(
        names="mm_vmscan_lru_shrink_active",
        decimal="nid nr_taken nr_active nr_deactivated nr_referenced priority",
        string="flags",
    ),
    KnownEvent(
        names="mm_vmscan_throttled",
        # The text's own spelling.
        decimal="nid usec_timeout usect_delayed",
        string="reason",
    ),
)

_FILEMAP = (
    KnownEvent(
        names="mm_filemap_add_to_page_cache mm_filemap_delete_from_page_cache",
        decimal="ofs order",
        pointer="page pfn",
        hexadecimal="ino",
        string="dev",
        texts=("dev {dev} ino {ino} {}",),
    ),
    KnownEvent(names="filemap_set_wb_err", pointer="ino errseq", string="dev"),
    KnownEvent(names="file_check_and_advance_wb_err", pointer="file ino old new", string="dev"),
)

_BDI = ("bdi {bdi}: {}",)

_WRITEBACK = (
    KnownEvent(
        names="writeback_dirty_folio folio_wait_writeback writeback_dirty_page "
        "wait_on_page_writeback",
        decimal="ino index",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_mark_inode_dirty writeback_dirty_inode_start writeback_dirty_inode",
        decimal="ino",
        string="bdi state flags",
        texts=_BDI,
    ),
    KnownEvent(
        names="inode_foreign_history",
        decimal="ino cgroup_ino",
        pointer="history",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="inode_switch_wbs",
        decimal="ino old_cgroup_ino new_cgroup_ino",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="track_foreign_dirty",
        decimal="bdi_id ino memcg_id cgroup_ino page_cgroup_ino",
        string="bdi",
        texts=("bdi {bdi}[{bdi_id}]: {}",),
    ),
    KnownEvent(
        names="flush_foreign",
        decimal="cgroup_ino frn_bdi_id frn_memcg_id",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_write_inode_start writeback_write_inode",
        decimal="ino sync_mode cgroup_ino",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_queue writeback_exec writeback_start writeback_written writeback_wait",
        decimal="nr_pages sync_mode kupdate range_cyclic background cgroup_ino",
        string="bdi sb_dev reason",
        texts=("bdi {bdi}: sb_dev {sb_dev} {}",),
    ),
    KnownEvent(names="writeback_pages_written", decimal="pages", texts=("{pages}",)),
    KnownEvent(names="writeback_wake_background", decimal="cgroup_ino", string="bdi", texts=_BDI),
    KnownEvent(names="writeback_bdi_register", string="bdi", texts=("bdi {bdi}",)),
    KnownEvent(
        names="wbc_writepage",
        decimal="towrt skip mode kupd bgrd reclm cyclic cgroup_ino",
        pointer="start end",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_queue_io",
        decimal="older age enqueue cgroup_ino",
        string="bdi reason",
        texts=_BDI,
    ),
    KnownEvent(
        names="global_dirty_state",
        decimal="dirty writeback bg_thresh thresh limit dirtied written",
    ),
    KnownEvent(
        names="bdi_dirty_ratelimit",
        decimal="write_bw awrite_bw dirty_rate dirty_ratelimit task_ratelimit "
        "balanced_dirty_ratelimit cgroup_ino",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="balance_dirty_pages",
        decimal="limit setpoint dirty bdi_setpoint bdi_dirty dirty_ratelimit task_ratelimit "
        "dirtied dirtied_pause paused pause period think cgroup_ino",
        string="bdi",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_sb_inodes_requeue",
        decimal="ino dirtied_when age cgroup_ino",
        string="bdi state",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_single_inode_start writeback_single_inode",
        decimal="ino dirtied_when age index to_write wrote cgroup_ino",
        string="bdi state",
        texts=_BDI,
    ),
    KnownEvent(
        names="writeback_lazytime writeback_lazytime_iput writeback_dirty_inode_enqueue "
        "sb_mark_inode_writeback sb_clear_inode_writeback",
        decimal="ino dirtied",
        string="dev state mode",
        texts=("dev {dev} ino {ino} dirtied {dirtied} state {state} mode {mode}",),
    ),
    KnownEvent(
        names="writeback_congestion_wait writeback_wait_iff_congested",
        decimal="usec_timeout usec_delayed",
    ),
)

_PAGEMAP = (
    KnownEvent(
        names="mm_lru_insertion",
        decimal="lru",
        pointer="folio page pfn",
        string="flags",
        # One letter or a space for each of six flags, up to the line's end.
        texts=(
            "folio={folio} pfn={pfn} lru={lru} flags={flags}",
            "page={page} pfn={pfn} lru={lru} flags={flags}",
        ),
    ),
    KnownEvent(names="mm_lru_activate", pointer="folio page pfn"),
)

_LOCK = (
    KnownEvent(
        names="contention_begin",
        pointer="lock_addr",
        string="flags",
        texts=("{lock_addr} (flags={flags})",),
    ),
    KnownEvent(
        names="contention_end",
        decimal="ret",
        pointer="lock_addr",
        texts=("{lock_addr} (ret={ret})",),
    ),
    KnownEvent(
        names="lock_acquire lock_release lock_contended lock_acquired",
        pointer="lockdep_addr",
        string="name",
        texts=("{lockdep_addr} {name}",),
    ),
)

_COMPACTION = (
    KnownEvent(
        names="mm_compaction_isolate_migratepages mm_compaction_isolate_freepages "
        "mm_compaction_fast_isolate_freepages",
        decimal="nr_scanned nr_taken",
        pointer="start_pfn end_pfn",
        texts=("range=({start_pfn} ~ {end_pfn}) {}",),
    ),
    KnownEvent(names="mm_compaction_migratepages", decimal="nr_migrated nr_failed"),
    KnownEvent(
        names="mm_compaction_begin mm_compaction_end",
        pointer="zone_start migrate_pfn free_pfn zone_end",
        string="mode status",
        texts=(
            "zone_start={zone_start} migrate_pfn={migrate_pfn} free_pfn={free_pfn} "
            "zone_end={zone_end}, {}",
        ),
    ),
    KnownEvent(
        names="mm_compaction_try_to_compact_pages", decimal="order priority", string="gfp_mask"
    ),
    KnownEvent(
        names="mm_compaction_finished mm_compaction_suitable",
        decimal="node order",
        string="zone ret",
    ),
    KnownEvent(
        names="mm_compaction_deferred mm_compaction_defer_compaction mm_compaction_defer_reset",
        decimal="node order order_failed consider limit",
        string="zone",
    ),
    KnownEvent(names="mm_compaction_kcompactd_sleep", decimal="nid"),
    KnownEvent(
        names="mm_compaction_wakeup_kcompactd mm_compaction_kcompactd_wake",
        decimal="nid order",
        string="classzone_idx",
    ),
)

_SCHED = (
    KnownEvent(
        names="sched_switch",
        decimal="prev_pid prev_prio next_pid next_prio",
        string="prev_comm prev_state next_comm",
        texts=(
            "prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={prev_prio} "
            "prev_state={prev_state} ==> next_comm={next_comm} next_pid={next_pid} "
            "next_prio={next_prio}{}",
        ),
    ),
    KnownEvent(
        names="sched_wakeup sched_wakeup_new sched_waking",
        decimal="pid prio target_cpu",
        string="comm",
        texts=("comm={comm} pid={pid} {}",),
    ),
)
"""A task's name may hold spaces: words would tear it."""

KNOWN_EVENTS: Final = (
    *_PROBES,
    *_VMSCAN,
    *_FILEMAP,
    *_WRITEBACK,
    *_PAGEMAP,
    *_LOCK,
    *_COMPACTION,
    *_SCHED,
)
"""Every event that needs no first rows to be typed."""
