"""Settings take effect, and defaults apply without them."""

from __future__ import annotations

import os
from pathlib import Path

from lro_conformance.analysis.documents import Documents
from lro_conformance.analysis.on_off import on_off_pairs
from lro_conformance.capture.call import Call
from lro_conformance.capture.estimate import tokens_per_character
from lro_conformance.capture.records import show
from lro_conformance.capture.reproduce import Conversation
from lro_conformance.judging.check import check
from lro_conformance.judging.outcome import NotObserved
from lro_conformance.judging.subjects import Subjects
from lro_conformance.profile.model import reason_not_set
from lro_conformance.trials.cleanup import Cleanup
from lro_conformance.trials.defaults import Defaults, require_default
from lro_conformance.trials.disabled import Control, Disabled
from lro_conformance.trials.documented import EXAMINED, Documented
from lro_conformance.trials.folders import AWKWARD, Folders
from lro_conformance.trials.survey import Inline, Survey
from lro_spec.display import counted

MIN_RECORDS = 5
"""Only a result with at least this many records shows whether results are truncated."""


@check("LRO-CFG-01")
def test_disabled_stays_inline(disabled: Disabled, subjects: Subjects) -> None:
    """With enabled = false, every result is inline and no file is written, even at the lowest threshold."""
    for call in disabled.calls:
        subjects.expect(
            call.outcome == "inline",
            expected=f"{call.operation} inline with enabled = false",
            observed=call.outcome,
            subject=call,
        )
    if disabled.calls:
        files = ", ".join(sorted(disabled.listing)[:5])
        subjects.expect(not files, expected="no file with enabled = false", observed=files, subject=disabled.calls[0])


@check("LRO-CFG-01")
def test_disabled_truncates_nothing(disabled: Disabled, inline: Inline, subjects: Subjects) -> None:
    """With enabled = false, a result of several records is not truncated to fit into a threshold of 1."""
    for call in disabled.calls:
        enabled_call = inline.again.get(call.operation)
        enabled_records = enabled_call.records or [] if enabled_call is not None else []
        if len(enabled_records) < MIN_RECORDS:
            subjects.not_observed(
                f"{call.operation} returns fewer than {MIN_RECORDS} records at threshold_tokens = {inline.threshold}, "
                "so there is nothing to compare with"
            )
            continue
        if call.records is None:
            subjects.not_observed(f"no records were recognised in what {call.operation} returns with enabled = false")
            continue
        subjects.expect(
            len(call.records) > 1,
            expected=f"{call.operation} with enabled = false has more than one record, whatever the threshold",
            observed=f"{len(call.records)} of {len(enabled_records)} records: {show(call.text, 200)}",
            subject=call,
        )


@check("LRO-CFG-01", optional=("control",))
def test_disabled_keeps_to_the_limit(
    disabled: Disabled, inline: Inline, control: Control | None, subjects: Subjects
) -> None:
    """With enabled = false, a call returns at most as many records as its limit says. This is examined only if the call
    keeps to the limit with LRO on."""
    for pair in (p for p in on_off_pairs(inline, disabled, control) if p.off.records and p.off.limit is not None):
        subjects.expect(
            not pair.ignores_limit,
            expected=f"{pair.off.label} with enabled = false: at most {pair.off.limit} records",
            observed=counted(len(pair.off.records or []), "record"),
            subject=pair.off,
        )


@check("LRO-CFG-01")
def test_enabled_offloads(folders: Folders, subjects: Subjects) -> None:
    """With enabled = true, a result is offloaded if it is also offloaded without this setting."""
    offloaded = (c for c in folders.awkward if c.settings.get("enabled") is True and c.outcome == "offloaded")
    for call in (*folders.not_switched_on, *offloaded):
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{call.operation} is offloaded with enabled = true, as without it",
            observed=call.outcome,
            subject=call,
        )
    if not subjects.examined:
        subjects.not_observed(
            "nothing was offloaded with enabled = true and a relative output_dir, or enabled cannot be set"
        )


@check("LRO-THR-07")
def test_no_file_below_the_threshold(survey: Survey, inline: Inline, subjects: Subjects) -> None:
    """No file is written for inline results: with a threshold that no result reaches, the output folder stays empty."""
    if not any(c.file is not None and Path(c.file.real_path or "").parent == c.real_output_dir for c in survey.files):
        is_set = any(c.output_dir is not None for c in survey.files)
        missing = "no file of this server was found in the output folder that was set"
        raise NotObserved(missing if is_set or not survey.files else survey.reason_not_set("output_dir"))
    calls = [c for c in inline.calls if c.outcome in ("inline", "offloaded")]
    if not calls or any(c.outcome == "offloaded" for c in calls):
        raise NotObserved(
            f"no result, or not every one, is inline at threshold_tokens = {inline.threshold} (LRO-CFG-02)"
        )
    files = ", ".join(sorted(inline.listing)[:3])
    subjects.expect(
        not files,
        expected=f"no file if every result is inline (threshold_tokens = {inline.threshold})",
        observed=f"{counted(len(inline.listing), 'file')} in the output folder: {files}",
        subject=Conversation(calls[0].start),
    )


@check("LRO-CFG-02")
def test_threshold_setting(survey: Survey, inline: Inline, subjects: Subjects) -> None:
    """threshold_tokens takes effect in both directions: at 1, two records are offloaded; at a billion, nothing is
    offloaded.

    If the server rejects these values, the lowest and the highest threshold that it accepts are used.
    """
    some = "two records" if survey.lowest == 1 else "some records"
    for name, call in survey.minimal_calls.items():
        if not survey.offloads(name) or not (call.outcome == "offloaded" or call.records):
            continue
        if survey.effective and name not in survey.effective:
            continue  # a single operation that stays inline fails LRO-SCOPE-01 to -03 instead
        ratio = tokens_per_character(survey.repeats[name][0])
        may_be_one_token = call.outcome == "inline" and len(show(call.records, 1_000_000)) * ratio < 2
        if may_be_one_token or survey.is_small(call):
            subjects.not_observed(
                f"by the server's own estimate, {some} possibly do not exceed a threshold of {survey.lowest}"
            )
            continue
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"{name}: {some} are offloaded at threshold_tokens = {survey.lowest}",
            observed=call.outcome,
            subject=call,
        )
    for (name, _), call in inline.whole.items():
        # a token has at least one character, so the number of characters is an upper bound
        sizes = (call.estimate, call.file.characters) if call.file is not None else (None,)
        exceeds = all(size is not None and size > inline.threshold for size in sizes)
        if survey.offloads(name) and call.outcome in ("inline", "offloaded") and not exceeds:
            subjects.expect(
                call.outcome == "inline",
                expected=f"{name}: inline at threshold_tokens = {inline.threshold}",
                observed=call.outcome,
                subject=call,
            )


@check("LRO-CFG-02")
def test_threshold_beside_a_ttl(survey: Survey, cleanup: Cleanup, subjects: Subjects) -> None:
    """threshold_tokens takes effect if ttl_seconds is set, too: at 1, two records are offloaded."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    call = cleanup.not_offloaded or (cleanup.crowd.earlier[0] if cleanup.crowd and cleanup.crowd.earlier else None)
    if call is None:
        raise NotObserved(cleanup.reason or "while a TTL was set, no call for a few records returned a result")
    without_ttl = survey.minimal_calls.get(call.operation)
    if without_ttl is None or without_ttl.outcome != "offloaded" or call.operation in survey.volatile_operations:
        raise NotObserved(f"without a TTL, {call.label} is not offloaded each time")
    if call.outcome == "inline" and (survey.is_small(call) or not call.records):
        raise NotObserved(f"{call.label} returned too little to be offloaded")
    subjects.expect(
        call.outcome == "offloaded",
        expected=f"{call.label}: offloaded at threshold_tokens = {survey.lowest} beside a TTL, as without one",
        observed=call.outcome,
        subject=call,
    )


@check("LRO-CFG-02")
def test_zero_is_a_threshold(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """At a threshold of 0, every result that is not empty is offloaded.

    A server that takes 0 for no threshold gets a warning, because such a reading of settings is common.
    """
    if not folders.at_zero:
        raise NotObserved("the server was not observed with a threshold of 0")
    offloaded_at_one = {c.operation for c in folders.awkward if c.outcome == "offloaded"}
    for call in folders.at_zero:
        if call.outcome == "offloaded":
            subjects.expect(holds=True, expected="", observed="", subject=call)
        elif call.operation in offloaded_at_one and call.outcome == "inline" and not survey.is_small(call):
            subjects.warn(
                expected=f"{call.label}: offloaded at threshold_tokens = 0, as at 1", observed="inline", subject=call
            )
        else:
            subjects.not_observed(f"nothing shows whether the result of {call.label} exceeds a threshold of 0")


@check("LRO-CFG-04", optional=("documented",))
def test_output_dir_setting(
    survey: Survey, documents: Documents, documented: Documented | None, subjects: Subjects
) -> None:
    """output_dir takes effect: each file is in that folder or below it."""
    otherwise_set = None if documented is None else documented.call  # LRO-CFG-07 judges the folder of this call
    for call in (one.call for one in documents.documents if one.call is not otherwise_set):
        if call.file is None or call.real_output_dir is None:
            subjects.not_observed(survey.reason_not_set("output_dir"))
            continue
        if not os.path.isabs(call.file.path):
            subjects.not_observed("file_path is not absolute")
            continue
        is_below = Path(call.file.real_path or call.file.path).is_relative_to(call.real_output_dir)
        subjects.expect(is_below, expected=f"a file in {call.output_dir}", observed=call.file.path, subject=call)


@check("LRO-CFG-04")
def test_folder_may_have_any_name(survey: Survey, folders: Folders, subjects: Subjects) -> None:
    """Results are offloaded to a folder whose name has blanks, quotes, brackets and other special characters."""
    if not survey.adjustable:
        raise NotObserved(survey.reason_not_set("threshold_tokens"))
    if "output_dir" in survey.fixed:
        raise NotObserved(survey.reason_not_set("output_dir"))
    # Only calls for which an environment variable sets the folder are examined. If the folder is set in another way,
    # the profile may have to quote its name.
    calls = [c for c in folders.awkward if any(AWKWARD in value for value in c.start.env.values())]
    for call in (c for c in calls if c.operation in survey.effective and c.outcome in ("inline", "error", "offloaded")):
        subjects.expect(
            call.outcome == "offloaded",
            expected=f"offloaded to the folder {AWKWARD}",
            observed=f"{call.outcome}: {show(call.text, 200)}",
            subject=call,
            # a server that writes without output_dir is not hindered by the machine
            despite_hindrance=any(c.outcome == "offloaded" for c in folders.unset),
        )
    if not calls:
        raise NotObserved(
            "no environment variable sets the output folder"
            if folders.awkward
            else "no call was made with such an output folder"
        )


@check("LRO-CFG-05")
def test_system_temporary_directory(survey: Survey, folders: Folders, defaults: Defaults, subjects: Subjects) -> None:
    """If output_dir is empty or unset, files are written to the system's temporary directory: TMPDIR, or /tmp."""
    if "output_dir" in survey.fixed:
        raise NotObserved(survey.reason_not_set("output_dir"))
    bare_calls = [defaults.bare] if defaults.bare is not None and "output_dir" not in defaults.preset else []
    how = "output_dir empty" if folders.refused is None else "output_dir unset"
    calls_without_folder = [(c, folders.real_temps, how) for c in folders.unset]
    calls_without_folder += [(c, defaults.bare_temps, "output_dir unset") for c in bare_calls]
    offloaded = [
        (c, temporary_folders, how)
        for c, temporary_folders, how in calls_without_folder
        if c.file is not None and not _folder_proves_nothing(survey, c)
    ]
    for call, temporary_folders, how in offloaded:
        path, real = (call.file.path, call.file.real_path) if call.file is not None else ("", None)
        folder = Path(real or path).parent
        in_cwd = (
            folder == call.start.cwd and folder not in temporary_folders
        )  # even if the working directory is in /tmp
        subjects.expect(
            bool(set(temporary_folders) & {folder, folder.parent}) and not in_cwd,
            expected=f"with {how}: a file in {temporary_folders[0]} (TMPDIR) or /tmp",
            observed=path,
            subject=call,
        )
    if folders.refused is not None:
        subjects.expect(
            holds=False,
            expected="a server that starts with output_dir empty, which is the documented default",
            observed=folders.refused,
            subject=Conversation(folders.refusing) if folders.refusing is not None else None,
        )
    elif bare_calls and bare_calls[0].outcome == "offloaded":
        for call in (c for c in folders.unset if c.operation in survey.effective and c.outcome in ("inline", "error")):
            subjects.expect(
                holds=False,
                expected="offloaded with output_dir empty, as when it is unset",
                observed=f"{call.outcome}: {show(call.text, 200)}",
                subject=call,
                despite_hindrance=True,  # the same result was written with output_dir unset
            )
    if not offloaded:
        subjects.not_observed("no file with a reliable path was written without output_dir")


def _folder_proves_nothing(survey: Survey, call: Call) -> bool:
    """True if the folder of the call's file proves nothing: a file of the same operation is outside the folder that was
    set (LRO-CFG-04), or no file of this operation could be read."""
    calls_of_operation = [c for c in survey.files if c.operation == call.operation]
    return not calls_of_operation or any(
        c.real_output_dir is not None
        and c.file is not None
        and not Path(c.file.real_path or "").is_relative_to(c.real_output_dir)
        for c in calls_of_operation
    )


@check("LRO-CFG-06")
def test_enabled_by_default(defaults: Defaults, subjects: Subjects) -> None:
    """LRO is on by default: a result that exceeds the default threshold is offloaded."""
    require_default(defaults.preset, "enabled")
    offloaded = [b.offloaded for b in defaults.brackets if b.offloaded is not None]
    if offloaded:
        bare = defaults.bare
        if bare is not None and bare.outcome in ("inline", "offloaded"):
            subjects.expect(
                bare.outcome == "offloaded",
                expected="a large result is offloaded without any setting",
                observed="only once output_dir is set",
                subject=bare,
            )
        return
    offloaded_once_enabled = next((c for c in defaults.enabled if c.outcome == "offloaded"), None)
    if offloaded_once_enabled is None:
        raise NotObserved("no result was offloaded under the default threshold, so perhaps none exceeds it")
    subjects.expect(
        holds=False,
        expected="a large result is offloaded without any setting",
        observed="only once enabled = true is set",
        subject=offloaded_once_enabled,
    )


@check("LRO-CFG-07", optional=("documented",))
def test_documented_names_take_effect(survey: Survey, documented: Documented | None, subjects: Subjects) -> None:
    """The documented environment variables set the threshold and the output folder, even if the server also has other
    names for these settings."""
    for name in EXAMINED:
        own_server = documented if documented is not None and name in documented.names else None
        call, fixed = (
            (_call_for_few_records(survey), survey.fixed) if own_server is None else (own_server.call, own_server.fixed)
        )
        if name in fixed:
            subjects.not_observed(reason_not_set(name, fixed))
            continue
        if call is None or call.outcome not in ("inline", "offloaded"):
            reason = None if own_server is None else own_server.trouble
            subjects.not_observed(reason or "a call for few records returned no result")
            continue
        is_set = survey.adjustable if name == "threshold_tokens" else call.output_dir is not None
        if own_server is None and not is_set:
            subjects.not_observed(survey.reason_not_set(name))
            continue
        if name == "output_dir" and (call.outcome != "offloaded" or call.file is None):
            subjects.not_observed("nothing was offloaded with the documented variables, so no file shows the folder")
            continue
        effective = call.outcome == "offloaded" if name == "threshold_tokens" else _is_below_output_dir(call)
        if not effective and own_server is None:
            subjects.not_observed("a documented setting has no effect (LRO-CFG-02, LRO-CFG-04)")
            continue
        subjects.expect(
            effective,
            expected=f"{name} is set by its documented variable, too",
            observed=f"the documented variable of {name} has no effect: "
            + ("a result is inline" if name == "threshold_tokens" else f"the file is {call.path}"),
            subject=call,
        )


def _call_for_few_records(survey: Survey) -> Call | None:
    """A call that asked for few records; if there are several, the first that was offloaded. None if there is none."""
    calls = [*survey.minimal_calls.values()]
    return next((c for c in calls if c.outcome == "offloaded"), calls[0] if calls else None)


def _is_below_output_dir(call: Call) -> bool:
    real, root = call.file.real_path if call.file is not None else None, call.real_output_dir
    return real is not None and root is not None and Path(real).is_relative_to(root)
