import { sqlName } from '../src/attempt/columns.ts'
import { foreignMeasures } from '../src/measure/foreign-measures.ts'
import { neededOfNone } from '../src/measure/interval/length.ts'
import { type Measure, measureNames, measures } from '../src/measure/measures.ts'
import { samplesNeeded } from '../src/measure/percentile.ts'
import { fluidity, outputLength } from '../src/measure/shares.ts'
import { standings } from '../src/measure/standings.ts'
import { taskMeasures, taskStandings } from '../src/measure/task-measures.ts'
import { tokenParts } from '../src/measure/token-parts.ts'
import { table } from './table.ts'

/** The text of docs/metrics.md; a test compares them. */
export function metricsReference(): string {
  return `${[
    '# Metrics',
    '<!-- Made by npm run reference; do not edit. -->',
    `Each measure has one meaning in thresholds, the live view, summaries (terminal, JSON, Markdown, CSV),
pages, comparisons and exports. \`src/measure/measures.ts\` defines each measure once, and \`views.ts\` there creates three
views: \`attempt_values\` has one column per measure of an attempt, \`attempt_measures\` one row per measure,
and \`attempt_times\` is \`attempt_values\` with times of day.`,
    '## Times of an attempt',
    `Times are microseconds in SQL (\`_us\`) and are shown as milliseconds. A \`>\` or \`≥\` before a percentile
means "at least": a sample that was cut off lies at or below it. Figures cover the steady part of a run, or
the whole run if it has no steady part. A threshold that names a phase covers that phase.`,
    table(
      ['measure', 'in SQL and thresholds', 'from, to', 'who has it', 'who is cut off'],
      [
        ...measureNames.map((name) => row(sqlName(name), measures[name])),
        [
          'ITL',
          '`itl`',
          'each gap between two events with text of one stream; 0 if both arrived in one packet',
          'streams that succeeded',
          'no one; from histograms, so accurate to 0.1 % (`~`)',
        ],
      ],
    ),
    '## Percentiles',
    `Percentiles are linear interpolations between the two nearest of all samples (R-7: \`quantile_cont\` in
DuckDB, \`linear\` in numpy), never averages of percentiles. A percentile of ITL is the gap that this share
of gaps does not exceed. A percentile needs ${[0.5, 0.9, 0.95, 0.99, 0.999]
      .map((p) => `${samplesNeeded(p).toLocaleString('en-US')} samples for p${p * 100}`)
      .join(', ')} (99 % confidence, the early stopping of MLPerf LoadGen). With
fewer, it reads \`few\` or "n too small", and no chart draws it.

## Intervals

Neighbouring requests wait in the same queues, so 2,000 requests may be worth 33 independent ones. An interval
says where the true figure of the service lies, with 95 % confidence, for requests that depend on each other
([decision 0810](decisions/0810-intervals-for-requests-that-wait-together.md)). It takes the values in the order
of their planned sends.

| figure | interval |
| --- | --- |
| percentile | between two ordered values, as far apart as the requests are worth; a value that was cut off counts as endless |
| mean | on a logarithmic scale |
| share | Clopper and Pearson's, at the number of independent requests; a share of 0 or 1 assumes that failures come singly |
| rate of completions | of the counts of whole seconds |
| percentile of gaps (ITL) | the gaps of a stream are not independent, so all gaps are worth no more than their streams |
| count, least, largest, what this client sent, credits, cost | none: a fact of the run. So is a share that is compared with \`==\`, 0 % or 100 % |

A run that is worth fewer than 200 independent requests, and whose neighbours depend on each other, is short: its
busiest stretches may not have come yet. Its figures have no upper bound, so a short run can miss a threshold, but not
hold it.

A threshold is held if its whole interval lies within the limit, and a percentile has the samples of the table
above. It is missed if the whole interval lies beyond the limit. Otherwise it is inconclusive, and the line says what
the requests are worth and about how many would decide. A limit that no request came near needs no interval: if the
worst request is at most half of it, ${[0.5, 0.9, 0.95, 0.99].map((p) => `${neededOfNone(1 - p)} requests hold a p${100 * p}`).join(', ')}
([decision 0811](decisions/0811-a-limit-that-no-request-came-near.md)); and if no request failed, ${neededOfNone(0.01)} hold
\`errors < 1%\`. Inconclusive is not a pass: the command exits with 3.

This leaves short runs usable: of the 23 thresholds of the shipped scenarios, none is inconclusive on the reference service
(\`node bench/shipped-thresholds.ts\`, ten minutes on a quiet machine).`,
    '## How an attempt counts',
    table(
      ['column', 'an attempt counts if'],
      Object.entries(standings)
        .filter(([name]) => !name.endsWith('_tokens'))
        .map(([name, { summary }]) => [`\`${name}\``, summary]),
    ),
    table(
      ['figure', 'unit', 'definition'],
      [
        [
          'errors',
          'share of `was_sent`',
          '`failed`; with a filter, the selected errors, including provoked ones',
        ],
        ['success', 'share of `judged`', '`succeeded`'],
        [
          'goodput',
          'share of `judged`',
          '`succeeded`, not `empty`, `correct` if it is `examined`, and within every objective of the scenario that can be measured on it',
        ],
        [
          'correct',
          'share of `examined`',
          '`correct`; an answer that could not be checked is neither correct nor wrong, so a threshold stays inconclusive if it matters',
        ],
        [
          'within their own limits',
          'share of the requests that have the time',
          'the time is below the limit by length, such as `300ms + 0.2ms/input_token`; of a request without token counts nobody knows it, and a timeout is not',
        ],
        ['empty', 'share of `generated`', '`empty`'],
        ['not_sent', 'share of all', 'planned, not `was_sent`'],
        ['requests', 'count, per second', '`was_sent`'],
        [
          'tokens',
          'count, per second',
          `${standings.output_tokens.summary}; unreported tokens are unknown, not 0`,
        ],
        [
          'output_length',
          'ratio of each request',
          `${outputLength.summary}; percentiles, mean, min, max`,
        ],
        ['fluidity', 'share of each stream', `${fluidity.summary}; percentiles, mean, min, max`],
        ['estimated tokens', 'count', standings.estimated_tokens.summary],
        [
          'credits',
          'count, per second',
          'price of each success in the contract; an unknown price is unknown, not 0',
        ],
        [
          'requests/s',
          'per second',
          '`was_sent`, over the time of arrivals; a late answer never changes it',
        ],
        [
          'ok/s, tokens/s, credits/s, errors/s',
          'per second',
          'completed in the steady part, per second of it',
        ],
        [
          'time of arrivals',
          'seconds',
          'from the first to the last planned send, and the mean gap',
        ],
        [
          'steady part',
          'seconds',
          'as long as the time of arrivals, later by the median response time: neither the ramp at the start nor the wait for the last answers counts',
        ],
      ],
    ),
    '## Tasks',
    `A task is several requests that wait for each other. The table \`tasks\` has a row for each, the view
\`task_values\` its measures. Times are of tasks that succeeded or were cut off.`,
    table(
      ['measure', 'in SQL and thresholds', 'definition'],
      [
        ...Object.entries(taskMeasures).map(([name, { title, summary }]) => [
          title,
          `\`${sqlName(name)}\``,
          summary,
        ]),
        ['success', '`task_success`', 'share of `judged` tasks that `succeeded`'],
        ['tasks', '`tasks`', 'count of `judged` tasks'],
        [
          'credits',
          '`task_credits`',
          'credits of all requests of a `judged` task, by the contract',
        ],
        [
          'cost',
          '`task_cost`',
          "cost of all requests of a `judged` task, by the contract's prices, in its currency",
        ],
      ],
    ),
    table(
      ['column', 'a task counts if'],
      Object.entries(taskStandings).map(([name, { summary }]) => [`\`${name}\``, summary]),
    ),
    '## Tokens',
    `Columns of tokens mean the same in every dialect of usage. \`prompt_tokens\` and \`completion_tokens\` are whole
counts; \`cached_tokens\` and all other columns with \`_tokens\` are parts of them. Null is not reported, and so is
a 0 of an answer with text. \`attempt_values\` adds the parts that are left over:`,
    table(
      ['column', 'definition'],
      Object.entries(tokenParts).map(([name, { summary }]) => [`\`${name}\``, summary]),
    ),
    '## Other tools',
    `The launch page shows the same run under the definitions of other tools, and \`assay summary --format vllm\`
prints that of vLLM. All of these tools leave failures and timeouts out of latency.`,
    table(
      ['tool', 'first token is', 'time per token is', 'percentile rule', 'failures'],
      [
        [
          'AIPerf',
          'the first non-empty content or reasoning, as in Assay',
          "as Assay's TPOT; AIPerf calls it ITL",
          'linear',
          'left out; `adj_*` count an error as endless',
        ],
        [
          'GuideLLM',
          'the first non-empty content, reasoning or tool call, as in Assay',
          foreignMeasures.spread_tpot_us.summary,
          'step function of the CDF',
          'left out',
        ],
        [
          'vLLM bench serve',
          foreignMeasures.event_ttft_us.summary,
          foreignMeasures.tail_tpot_us.summary,
          'linear',
          'left out',
        ],
        [
          'evalscope perf',
          foreignMeasures.event_ttft_us.summary,
          foreignMeasures.tail_tpot_us.summary,
          '`data[int(n*p/100)]`',
          'left out',
        ],
        [
          'k6',
          'none: `http_req_waiting` is the first byte of the response',
          'none',
          'linear',
          '`http_req_duration` includes them, also fast errors; a threshold without samples passes',
        ],
      ],
    ),
  ].join('\n\n')}\n`
}

function row(name: string, { title, summary, who, cut, whoIsCut }: Measure): readonly string[] {
  return [title, `\`${name}\``, summary, who, cut === null ? 'no one' : whoIsCut]
}
