/* The members of the objects in run.json. doc/FORMAT-database.md, section 2, says what each means, in the
 * same order; test_documents compares the two.
 *
 *     FIELD(type, name, value...)             written by json_write_TYPE (run-json-values.h)
 *     SOMETIMES(condition, type, name, ...)   absent unless the condition holds
 *     INNER(name, call)                       `call` writes an object or array
 *
 * A function writes an object by including this file with the name of the object's list defined, and with the
 * variables that the list uses. So it has no guard. */
#define FIELD(type, name, ...) json_write_##type(json, name, __VA_ARGS__);
#define INNER(name, call)                                                                          \
    json_write_key(json, name);                                                                    \
    call;
#define SOMETIMES(condition, type, name, ...)                                                      \
    if (condition)                                                                                 \
        json_write_##type(json, name, __VA_ARGS__);

#ifdef FIELDS_OF_RUN /* run, title, measurements, calls */
FIELD(text, "format", DATABASE_RUN_FORMAT)
FIELD(number, "version", DATABASE_RUN_VERSION)
FIELD(text, "title", title)
INNER("measurements", write_directories(json, measurements))
SOMETIMES(run->analysis->collapses_recursion, text, "recursion", "collapsed")
SOMETIMES(run->analysis->metrics->statistics, statistics, "statistics", run->analysis->metrics->statistics)
INNER("metrics", run_json_write_metrics(run))
INNER("events", write_events(json, measurements))
INNER("agents", write_agents(json, measurements))
INNER("refused_agents", write_refusals(json, measurements))
INNER("regions", write_regions(json, measurements))
INNER("processes", run_json_write_processes(run))
INNER("unmeasured", run_json_write_unmeasured(run))
INNER("creation_paths", run_json_write_creation_paths(run))
INNER("modules", write_modules(json, run->analysis))
SOMETIMES(calls->n, ids, "unknown_call_sites", calls)
INNER("problems", write_problems(run))
#undef FIELDS_OF_RUN
#endif

#ifdef FIELDS_OF_METRIC /* metric */
FIELD(text, "name", metric->name)
SOMETIMES(metric->event, text, "event", metric->event->name)
FIELD(text, "unit", metric->event ? metric->event->unit : "s")
FIELD(text, "state", metric->state)
SOMETIMES(metric->why, text, "why", metric->why)
SOMETIMES(metric->bounds_total, text, "bounds", "total")
SOMETIMES(metric->error > 0, amount, "error", metric->error)
#undef FIELDS_OF_METRIC
#endif

#ifdef FIELDS_OF_EVENT /* event, by_rate */
FIELD(text, "name", event->name)
FIELD(text, "unit", event->unit)
FIELD(known_amount, "period", !by_rate, event_is_time(event) ? seconds(event->period) : (double)event->period)
SOMETIMES(by_rate, amount, "rate", 1 / seconds(event->period))
FIELD(truth, "by_default", event->flags & EVENT_BY_DEFAULT)
#undef FIELDS_OF_EVENT
#endif

#ifdef FIELDS_OF_AGENT /* agent */
FIELD(text, "name", agent->name)
FIELD(text, "version", agent->version)
FIELD(text, "rules", agent->rules)
FIELD(text, "rules_version", agent->rules_version)
#undef FIELDS_OF_AGENT
#endif

#ifdef FIELDS_OF_REFUSED_AGENT /* refusal */
FIELD(text, "name", refusal->agent)
FIELD(text, "why", refusal->why)
#undef FIELDS_OF_REFUSED_AGENT
#endif

#ifdef FIELDS_OF_REGION /* region, pid */
FIELD(text, "name", region->name)
FIELD(number, "pid", pid)
FIELD(number, "times", region->times)
FIELD(amount, "work", span_time(region->work))
FIELD(amount, "span", span_time(region->span))
FIELD(amount, "burdened_span", span_time(region->burdened_span))
FIELD(number, "spawns", region->spawns)
FIELD(truth, "partial", region->flags & REGION_PARTIAL)
#undef FIELDS_OF_REGION
#endif

#ifdef FIELDS_OF_MODULE /* module, structure, why, has_options */
FIELD(text, "path", module->path)
FIELD(text, "build_id", module->build_id)
FIELD(text, "structure", qualities[structure->quality])
FIELD(text, "why", why)
SOMETIMES(has_options, number, "units", structure->structure->n_units)
SOMETIMES(has_options, number, "unoptimized_units", structure->structure->n_unoptimized)
#undef FIELDS_OF_MODULE
#endif

#ifdef FIELDS_OF_UNMEASURED /* unmeasured */
FIELD(text, "reason", unmeasured->reason)
FIELD(number, "count", unmeasured->count)
FIELD(amount, "cpu", unmeasured->cpu)
INNER("programs", write_programs(json, unmeasured))
#undef FIELDS_OF_UNMEASURED
#endif

#ifdef FIELDS_OF_PROCESS /* run, file, m, process, lost, supply, counts, index, first_profile */
FIELD(number, "index", index)
FIELD(text, "host", process->host)
FIELD(number, "pid", process->pid)
FIELD(number, "parent_pid", process->parent_pid)
FIELD(number, "exec_sequence", process->exec_sequence)
FIELD(known_number, "rank", process->rank >= 0, process->rank)
FIELD(code, "origin", origin_name(process->origin), process->origin)
INNER("command", write_command(json, process))
FIELD(text, "executable", process->executable)
FIELD(text, "file", m->name)
FIELD(code, "state", lost.state ? lost.state : process_state_name(m->clock.state), m->clock.state)
FIELD(known_number, "signal", signal != 0, signal)
FIELD(known_amount, "data_until", lost.state, lost.data_until)
FIELD(known_amount, "missing_at_most", lost.state, lost.missing_at_most)
FIELD(number, "recovered", m->recovered)
FIELD(text, "write_error", lost.error)
FIELD(truth, "complete", m->complete)
FIELD(text, "program", executables->names.at[executables->of_file[index]])
FIELD(known_number, "workers", m->workers.n > 0, most_workers(m))
FIELD(number, "cpus", process->cpus)
FIELD(known_amount, "time_line_begin", has_time_line(run, index), time_line_begin(run, index))
FIELD(known_amount, "clock_error", process->clock_error > 0, 1e-6 * (double)(process->clock_error - 1))
FIELD(amount, "wall", seconds_between(process->monotonic, measurement_last(m).monotonic))
FIELD(amount, "cpu", seconds_between(process->cpu, measurement_last(m).cpu))
FIELD(amount, "startup_cpu", seconds(process->cpu))
FIELD(amount, "unsampled_cpu", unsampled_cpu(m))
FIELD(known_amount, "ready", supply.is_known, supply.ready)
FIELD(known_amount, "quota", m->clock.quota > 0, (double)m->clock.quota / 1000)
FIELD(known_amount, "throttled", m->clock.has_throttled, seconds(m->clock.throttled))
FIELD(number, "samples", counts.of_code[FATE_FIRED])
FIELD(number, "recorded", counts.of_code[FATE_RECORDED])
FIELD(number, "idle", counts.of_code[FATE_IDLE])
FIELD(number, "nobody_working", counts.of_code[FATE_NOBODY_WORKING])
INNER("dropped", write_reasons(json, &counts, fate_drop_reason))
INNER("partial", write_reasons(json, &counts, fate_partial_reason))
INNER("threads", write_threads(run, file, first_profile))
#undef FIELDS_OF_PROCESS
#endif

#ifdef FIELDS_OF_THREAD /* run, file, thread, profile, origin */
FIELD(number, "index", thread->index)
FIELD(number, "tid", thread->tid)
FIELD(text, "name", thread->name)
FIELD(code, "kind", thread_kind_name(thread->kind), thread->kind)
FIELD(number, "profile", profile)
FIELD(amount, "begin", seconds_between(file->m->process.monotonic, thread->first_monotonic))
FIELD(amount, "wall", seconds(thread->last_monotonic - thread->first_monotonic))
FIELD(amount, "cpu", seconds(thread->last_cpu - thread->first_cpu))
FIELD(known_amount, "ready", thread->has_ready, seconds(thread->ready))
FIELD(known_number, "timeslices", thread->has_ready, (int64_t)thread->timeslices)
FIELD(truth, "ended", thread->ended)
FIELD(text, "start_routine",
      origin->start_routine == NO_SYMBOL
          ? NULL
          : run->analysis->symbols->functions.at[origin->start_routine].name)
FIELD(text, "root", root_name(thread, origin))
FIELD(known_number, "created_at", origin->path != NO_SYMBOL, origin->path)
SOMETIMES(thread->marks.n, regions, "regions", file->m, thread)
SOMETIMES(thread->lost_marks, number, "lost_marks", thread->lost_marks)
INNER("events", write_events(run, file, thread))
#undef FIELDS_OF_THREAD
#endif

#ifdef FIELDS_OF_REGION_OF_A_THREAD /* region, process_begin */
FIELD(text, "name", region->name)
FIELD(amount, "begin", seconds_between(process_begin, region->begin))
FIELD(known_amount, "end", region->has_end, seconds_between(process_begin, region->end))
#undef FIELDS_OF_REGION_OF_A_THREAD
#endif

#ifdef FIELDS_OF_SAMPLES /* event, fates, fired, clock */
FIELD(text, "event", event->name)
FIELD(code, "source", source_name(fates[0].source), fates[0].source)
FIELD(text, "note", event->why_other_source)
FIELD(number, "samples", fired)
FIELD(known_amount, "rate", clock > 0, (double)fired / clock)
INNER("fates",
      write_fates(json, &run->analysis->measurements->events.at[file->event_of[fates[0].event]], fates, count))
#undef FIELDS_OF_SAMPLES
#endif

#ifdef FIELDS_OF_CREATION_FRAME /* symbols, frame, has_line */
FIELD(text, "name", symbols->functions.at[frame->function].name)
FIELD(text, "file", has_line ? strtab_string(&symbols->files, frame->file) : NULL)
FIELD(known_number, "line", has_line, frame->line)
#undef FIELDS_OF_CREATION_FRAME
#endif

#undef FIELD
#undef INNER
#undef SOMETIMES
