# SPDX-License-Identifier: GPL-2.0-or-later
"""Events with known fields: their types, and the texts that are not key=value.

A field has the name that the text prints, with words joined by an underscore, else that of the
event's structure. Source: the TP_printk lines of include/trace/events in Linux 6.1 (and 5.8 where
it differs).
"""

from typing import Final, NamedTuple


class KnownEvent(NamedTuple):
    """The fields of one or more events with the same text."""

    names: tuple[str, ...]
    kinds: dict[str, str]
    """Field -> one of KINDS, in their order."""
    texts: tuple[str, ...]
    """Texts that are not key=value, of which the first match counts: a field stands in braces, and
    {} where key=value words follow."""


KINDS: Final = ("decimal", "pointer", "hexadecimal", "string")
"""Printed in decimal: Int64; as 0x... or the 16 digits of %p: UInt64; in hexadecimal without 0x:
UInt64; all others: String."""

_BDI: Final = "bdi {bdi}: {}"


def _known(names: str, fields: str, *texts: str) -> KnownEvent:
    """Return events by their names and fields, ``name:kind``, or ``name`` for a decimal field."""
    pairs = [
        (name, kind or "decimal") for name, _, kind in (f.partition(":") for f in fields.split())
    ]
    kinds = dict(sorted(pairs, key=lambda pair: KINDS.index(pair[1])))
    return KnownEvent(tuple(names.split()), kinds, texts)


KNOWN_EVENTS: Final = (
    # Kprobes that replays need.
    _known("swp_add swp_del", "folio:pointer entry:pointer"),
    _known("swp_free", "entry:pointer"),
    _known("wb_start wb_end", "folio:pointer"),
    # include/trace/events/vmscan.h
    _known("mm_vmscan_kswapd_sleep", "nid"),
    _known("mm_vmscan_kswapd_wake", "nid order"),
    _known("mm_vmscan_wakeup_kswapd mm_vmscan_node_reclaim_begin", "nid order gfp_flags:string"),
    _known(
        "mm_vmscan_direct_reclaim_begin mm_vmscan_memcg_reclaim_begin "
        "mm_vmscan_memcg_softlimit_reclaim_begin",
        "order gfp_flags:string",
    ),
    _known(
        "mm_vmscan_direct_reclaim_end mm_vmscan_memcg_reclaim_end "
        "mm_vmscan_memcg_softlimit_reclaim_end mm_vmscan_node_reclaim_end",
        "nr_reclaimed",
    ),
    _known(
        "mm_shrink_slab_start",
        "nid objects_to_shrink cache_items delta total_scan priority shr:pointer "
        "shrink:string gfp_flags:string",
        "{shrink} {shr}: nid: {nid} objects to shrink {objects_to_shrink} gfp_flags "
        "{gfp_flags} cache items {cache_items} delta {delta} total_scan {total_scan} priority "
        "{priority}{}",
    ),
    _known(
        "mm_shrink_slab_end",
        "nid unused_scan_count new_scan_count total_scan last_shrinker_return_val shr:pointer "
        "shrink:string",
        "{shrink} {shr}: nid: {nid} unused scan count {unused_scan_count} new scan count "
        "{new_scan_count} total_scan {total_scan} last shrinker return val "
        "{last_shrinker_return_val}{}",
    ),
    _known(
        "mm_vmscan_lru_isolate",
        "isolate_mode classzone order nr_requested nr_scanned nr_skipped nr_taken lru:string",
    ),
    _known("mm_vmscan_write_folio mm_vmscan_writepage", "page:pointer pfn:pointer flags:string"),
    _known(
        "mm_vmscan_lru_shrink_inactive",
        "nid nr_scanned nr_reclaimed nr_dirty nr_writeback nr_congested nr_immediate "
        "nr_activate_anon nr_activate_file nr_ref_keep nr_unmap_fail priority flags:string",
    ),
    _known(
        "mm_vmscan_lru_shrink_active",
        "nid nr_taken nr_active nr_deactivated nr_referenced priority flags:string",
    ),
    # "usect" is the text's own spelling.
    _known("mm_vmscan_throttled", "nid usec_timeout usect_delayed reason:string"),
    # filemap.h
    _known(
        "mm_filemap_add_to_page_cache mm_filemap_delete_from_page_cache",
        "ofs order page:pointer pfn:pointer ino:hexadecimal dev:string",
        "dev {dev} ino {ino} {}",
    ),
    _known("filemap_set_wb_err", "ino:pointer errseq:pointer dev:string"),
    _known(
        "file_check_and_advance_wb_err",
        "file:pointer ino:pointer old:pointer new:pointer dev:string",
    ),
    # writeback.h
    _known(
        "writeback_dirty_folio folio_wait_writeback writeback_dirty_page wait_on_page_writeback",
        "ino index bdi:string",
        _BDI,
    ),
    _known(
        "writeback_mark_inode_dirty writeback_dirty_inode_start writeback_dirty_inode",
        "ino bdi:string state:string flags:string",
        _BDI,
    ),
    _known("inode_foreign_history", "ino cgroup_ino history:pointer bdi:string", _BDI),
    _known("inode_switch_wbs", "ino old_cgroup_ino new_cgroup_ino bdi:string", _BDI),
    _known(
        "track_foreign_dirty",
        "bdi_id ino memcg_id cgroup_ino page_cgroup_ino bdi:string",
        "bdi {bdi}[{bdi_id}]: {}",
    ),
    _known("flush_foreign", "cgroup_ino frn_bdi_id frn_memcg_id bdi:string", _BDI),
    _known(
        "writeback_write_inode_start writeback_write_inode",
        "ino sync_mode cgroup_ino bdi:string",
        _BDI,
    ),
    _known(
        "writeback_queue writeback_exec writeback_start writeback_written writeback_wait",
        "nr_pages sync_mode kupdate range_cyclic background cgroup_ino bdi:string "
        "sb_dev:string reason:string",
        "bdi {bdi}: sb_dev {sb_dev} {}",
    ),
    _known("writeback_pages_written", "pages", "{pages}"),
    _known("writeback_wake_background", "cgroup_ino bdi:string", _BDI),
    _known("writeback_bdi_register", "bdi:string", "bdi {bdi}"),
    _known(
        "wbc_writepage",
        "towrt skip mode kupd bgrd reclm cyclic cgroup_ino start:pointer end:pointer bdi:string",
        _BDI,
    ),
    _known("writeback_queue_io", "older age enqueue cgroup_ino bdi:string reason:string", _BDI),
    _known("global_dirty_state", "dirty writeback bg_thresh thresh limit dirtied written"),
    _known(
        "bdi_dirty_ratelimit",
        "write_bw awrite_bw dirty_rate dirty_ratelimit task_ratelimit "
        "balanced_dirty_ratelimit cgroup_ino bdi:string",
        _BDI,
    ),
    _known(
        "balance_dirty_pages",
        "limit setpoint dirty bdi_setpoint bdi_dirty dirty_ratelimit task_ratelimit dirtied "
        "dirtied_pause paused pause period think cgroup_ino bdi:string",
        _BDI,
    ),
    _known(
        "writeback_sb_inodes_requeue",
        "ino dirtied_when age cgroup_ino bdi:string state:string",
        _BDI,
    ),
    _known(
        "writeback_single_inode_start writeback_single_inode",
        "ino dirtied_when age index to_write wrote cgroup_ino bdi:string state:string",
        _BDI,
    ),
    _known(
        "writeback_lazytime writeback_lazytime_iput writeback_dirty_inode_enqueue "
        "sb_mark_inode_writeback sb_clear_inode_writeback",
        "ino dirtied dev:string state:string mode:string",
        "dev {dev} ino {ino} dirtied {dirtied} state {state} mode {mode}",
    ),
    _known("writeback_congestion_wait writeback_wait_iff_congested", "usec_timeout usec_delayed"),
    # pagemap.h
    # Its flags: one letter or a space for each of six, up to the line's end.
    _known(
        "mm_lru_insertion",
        "lru folio:pointer page:pointer pfn:pointer flags:string",
        "folio={folio} pfn={pfn} lru={lru} flags={flags}",
        "page={page} pfn={pfn} lru={lru} flags={flags}",
    ),
    _known("mm_lru_activate", "folio:pointer page:pointer pfn:pointer"),
    # lock.h
    _known("contention_begin", "lock_addr:pointer flags:string", "{lock_addr} (flags={flags})"),
    _known("contention_end", "ret lock_addr:pointer", "{lock_addr} (ret={ret})"),
    _known(
        "lock_acquire lock_release lock_contended lock_acquired",
        "lockdep_addr:pointer name:string",
        "{lockdep_addr} {name}",
    ),
    # compaction.h
    _known(
        "mm_compaction_isolate_migratepages mm_compaction_isolate_freepages "
        "mm_compaction_fast_isolate_freepages",
        "nr_scanned nr_taken start_pfn:pointer end_pfn:pointer",
        "range=({start_pfn} ~ {end_pfn}) {}",
    ),
    _known("mm_compaction_migratepages", "nr_migrated nr_failed"),
    _known(
        "mm_compaction_begin mm_compaction_end",
        "zone_start:pointer migrate_pfn:pointer free_pfn:pointer zone_end:pointer mode:string "
        "status:string",
        "zone_start={zone_start} migrate_pfn={migrate_pfn} free_pfn={free_pfn} "
        "zone_end={zone_end}, {}",
    ),
    _known("mm_compaction_try_to_compact_pages", "order priority gfp_mask:string"),
    _known("mm_compaction_finished mm_compaction_suitable", "node order zone:string ret:string"),
    _known(
        "mm_compaction_deferred mm_compaction_defer_compaction mm_compaction_defer_reset",
        "node order order_failed consider limit zone:string",
    ),
    _known("mm_compaction_kcompactd_sleep", "nid"),
    _known(
        "mm_compaction_wakeup_kcompactd mm_compaction_kcompactd_wake",
        "nid order classzone_idx:string",
    ),
    # sched.h: a task's name may contain spaces, at which words would be split.
    _known(
        "sched_switch",
        "prev_pid prev_prio next_pid next_prio prev_comm:string prev_state:string next_comm:string",
        "prev_comm={prev_comm} prev_pid={prev_pid} prev_prio={prev_prio} "
        "prev_state={prev_state} ==> next_comm={next_comm} next_pid={next_pid} "
        "next_prio={next_prio}{}",
    ),
    _known(
        "sched_wakeup sched_wakeup_new sched_waking",
        "pid prio target_cpu comm:string",
        "comm={comm} pid={pid} {}",
    ),
)
"""All events whose types do not depend on their first rows."""
