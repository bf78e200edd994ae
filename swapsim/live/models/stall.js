// SPDX-License-Identifier: GPL-2.0-or-later
// One list of reclaim, decided by each rule set: stall_decisions.process_list in JavaScript.
(function (models) {
  "use strict";

  const SUMS = ["dirty", "unqueued_dirty", "congested", "writeback", "immediate", "taken", "file_taken"];

  // Return the bits of a page for which its own flags answer all tests.
  function bitsOf(constants, page) {
    const nfs = page.fs_dirty !== null && page.buffers === false;
    return (
      (page.file && constants.SWS_STALL_PAGE_FILE) |
      (page.dirty && constants.SWS_STALL_PAGE_DIRTY) |
      (page.writeback && constants.SWS_STALL_PAGE_WRITEBACK) |
      (page.writeback && constants.SWS_STALL_PAGE_UNDER_WRITEBACK) |
      (page.reclaim && constants.SWS_STALL_PAGE_RECLAIM) |
      (page.reclaim && constants.SWS_STALL_PAGE_MARKED) |
      (page.congested && constants.SWS_STALL_PAGE_DEVICE_CONGESTED) |
      (page.buffers && constants.SWS_STALL_PAGE_BUFFERS) |
      (nfs && constants.SWS_STALL_PAGE_NFS) |
      (page.fs_dirty && constants.SWS_STALL_PAGE_FS_DIRTY) |
      (page.fs_writeback && constants.SWS_STALL_PAGE_FS_WRITEBACK)
    );
  }

  // Run the tests of one page; return whether it is freed, freed under writeback, and written.
  function processPage(core, list, page) {
    const { constants } = core;
    const bits = bitsOf(constants, page);
    const branches = core.words("sws_stall_branch", "SWS_STALL_BRANCH_");
    const meet = (each) => core.call("sws_stall_meet", list, each, page.pages);
    const now = (name) => core.field("sws_stall_list", list, name);
    meet(bits);
    let branch = branches[now("branch")];
    if (now("state") === constants.SWS_STALL_STATE_ASLEEP) {
      core.call("sws_stall_slept", list, page.still);
    } else if (now("state") === constants.SWS_STALL_STATE_WAITING) {
      core.call("sws_stall_waited", list);
      // It is written by now: the page is met again as what it is without writeback.
      if (now("state") === constants.SWS_STALL_STATE_PAGE)
        meet(bits & ~(constants.SWS_STALL_PAGE_WRITEBACK |
          constants.SWS_STALL_PAGE_UNDER_WRITEBACK | constants.SWS_STALL_PAGE_FS_WRITEBACK));
    }
    const early = now("under_writeback");
    const goesOn = now("state") === constants.SWS_STALL_STATE_GOES_ON;
    if (goesOn && page.arrives && page.dirty_late) {
      core.call("sws_stall_dirty", list);
      if (branch === "goes-on") branch = branches[now("branch")];
      if (now("state") === constants.SWS_STALL_STATE_PAGEOUT)
        core.call("sws_stall_paged_out", list, page.kept);
    } else if (goesOn) {
      core.call("sws_stall_left", list);
    }
    const freed = goesOn && page.arrives && !page.dirty_late;
    return { freed, early: freed && early, written: branch === "write" };
  }

  // Process the list by one rule set from these flags; return its end.
  function processList(core, setting, pages, rules, flags) {
    const { constants } = core;
    const set = core.indexOf(core.names("sws_stall_set_name"), rules);
    const row = core.read("sws_stall_rules", core.call("sws_stall_rules_of", set));
    const caller = constants.SWS_STALL_IO | constants.SWS_STALL_FS |
      (setting.kswapd && constants.SWS_STALL_KSWAPD);
    const { priority } = setting;
    const context = core.config("sws_stall_context", null, { set, caller, priority, flags });
    const list = core.alloc("sws_stall_list");
    const taken = pages.reduce((sum, page) => sum + page.pages, 0);
    core.call("sws_stall_begin", context, true, taken, list);
    const found = pages.map((page) => (page.locked ? {} : processPage(core, list, page)));
    const decision = core.alloc("sws_stall_decision");
    core.call("sws_stall_end", list, decision);
    const { slept, counts } = core.read("sws_stall_list", list);
    let place = constants.SWS_STALL_AT_LIST;
    if (row.decides === constants.SWS_STALL_AT_PASS) {
      // The pass has this list only.
      place = constants.SWS_STALL_AT_PASS;
      const given = core.config("sws_stall_counts", null, counts);
      core.call("sws_stall_decide", context, place, given, decision);
    }
    const decided = core.read("sws_stall_decision", decision);
    const acts = row.acts.slice(place * constants.SWS_STALL_ACTS_MAX,
      (place + 1) * constants.SWS_STALL_ACTS_MAX);
    const isSleep = (act, n) =>
      act.does === constants.SWS_STALL_DOES_SLEEP && (decided.acts >> n) & 1;
    const count = (name) => found.filter((page) => page[name]).length;
    return {
      slept, counts, set: decided.set, after: decided.flags_after,
      sleeps: acts.filter(isSleep).map((act) => core.names("sws_stall_sleep_name")[act.what]),
      written: count("written"), freed: count("freed"), freed_under_writeback: count("early"),
    };
  }

  // Counters, and the flags and throttles at the end of the list, for each rule set and meeting.
  models.stall = (core, setting) => {
    const { constants } = core;
    const bits = {
      tail_lru_dirty: constants.SWS_STALL_TAIL_DIRTY,
      writeback: constants.SWS_STALL_WRITEBACK,
      congested: constants.SWS_STALL_CONGESTED,
    };
    const pages = Object.entries(setting.counts)
      .flatMap(([words, count]) => Array(count).fill(setting.kinds[words]));
    if (!pages.length) throw new Error("the list is empty: give at least one page");
    const rows = [];
    for (const rules of setting.rules) {
      let flags = setting.flags.reduce((sum, name) => sum | bits[name], 0);
      for (let meeting = 1; meeting <= setting.meetings; meeting++) {
        const end = processList(core, setting, pages, rules, flags);
        const { slept, written, freed, freed_under_writeback } = end;
        const metrics = SUMS.map((name) => [name, end.counts[name]]);
        metrics.push(...Object.entries({ slept, written, freed, freed_under_writeback }));
        for (const name in bits) metrics.push([`flag ${name}`, +Boolean(end.set & bits[name])]);
        for (const name of core.names("sws_stall_sleep_name"))
          metrics.push([`throttle ${name}`, +end.sleeps.includes(name)]);
        rows.push(...metrics.map(([metric, value]) => ({ meeting, rules, metric, value })));
        flags = end.after;
      }
    }
    return rows;
  };
})(globalThis.swapsim.models);
