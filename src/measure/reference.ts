import { sqlName } from '../attempt/columns.ts'
import { foreignMeasures, type Measure, measureNames, measures, standings } from './measures.ts'
import { samplesNeeded } from './percentile.ts'

/** docs/metrics.md, made of the definitions themselves; a test holds both equal. */
export function metricsReference(): string {
  return `${[
    '# Metrics',
    '<!-- Made by npm run reference; do not edit. -->',
    `What each number means, wherever it is shown: thresholds, the live view, summaries (terminal, JSON,
Markdown, CSV), pages, comparisons and exports. \`src/measure/measures.ts\` defines each once and makes
three views of it: \`attempt_values\` has a column for each measure of an attempt, \`attempt_measures\` a
row, and \`attempt_times\` is \`attempt_values\` with times of day.`,
    '## Times of an attempt',
    `In SQL microseconds (\`_us\`), shown as milliseconds. A \`>\` or \`≥\` before a percentile means "at
least": a sample that was cut off lies at or below it. Figures cover the steady part of a run, or all of
it where it has none; a threshold that names a phase covers that phase.`,
    table(
      ['measure', 'in SQL and thresholds', 'from, to', 'who has it', 'who is cut off'],
      [
        ...measureNames.map((name) => row(sqlName(name), measures[name])),
        [
          'ITL',
          '`itl`',
          'each gap between two events with text of one stream; 0 where one packet brought both',
          'streams that succeeded',
          'no one; from histograms, so within 0.1 % (`~`)',
        ],
      ],
    ),
    '## Percentiles',
    `Linear interpolation between the two nearest of all samples (R-7: \`quantile_cont\` of DuckDB, \`linear\`
of numpy), never averages of percentiles. ITL is the gap that the share of gaps does not pass. A
percentile takes ${[0.5, 0.9, 0.95, 0.99, 0.999]
      .map((p) => `${samplesNeeded(p).toLocaleString('en-US')} samples for p${p * 100}`)
      .join(', ')} (99 % confidence, the early stopping of MLPerf LoadGen); with fewer it
reads \`few\` or "n too small", and no chart draws it.

A threshold on a percentile is decided by the interval between two order statistics that holds the true
percentile with 95 % confidence, whatever the distribution. It is held if the percentile has its samples
and the whole interval lies within the bound, missed if the whole interval lies beyond, else inconclusive,
with the count of samples that it would take. In that interval a sample that was cut off is as long as you
like. Inconclusive is not a pass: the command exits with 3.`,
    '## How an attempt counts',
    table(
      ['column', 'an attempt counts if'],
      Object.entries(standings)
        .filter(([name]) => !name.endsWith('_tokens'))
        .map(([name, { says }]) => [`\`${name}\``, says]),
    ),
    table(
      ['figure', 'unit', 'definition'],
      [
        [
          'errors',
          'share of `was_sent`',
          '`failed`; with a filter, the errors that it names, provoked ones too',
        ],
        ['success', 'share of `judged`', '`succeeded`'],
        [
          'goodput',
          'share of `judged`',
          '`succeeded`, not `without_text`, and within every objective of the scenario that can be measured on it',
        ],
        ['not_sent', 'share of all', 'planned, not `was_sent`'],
        ['requests', 'count, per second', '`was_sent`'],
        [
          'tokens',
          'count, per second',
          `${standings.output_tokens.says}; what was not reported is unknown, not 0`,
        ],
        ['estimated tokens', 'count', standings.estimated_tokens.says],
        [
          'credits',
          'count, per second',
          'price of each success by the contract; an unknown price is unknown, not 0',
        ],
        ['ok/s', 'per second', 'ended `ok`, per second of the span'],
        ['span', 'seconds', 'from the first intended to the last closed of these attempts'],
      ],
    ),
    '## Other tools',
    `The same run under the definitions of others, on the launch page and by \`assay summary --format vllm\`.
All of them leave failures and timeouts out of latency.`,
    table(
      ['tool', 'first token is', 'time per token is', 'percentile rule', 'failures'],
      [
        [
          'AIPerf',
          'the first non-empty content or reasoning, as ours',
          'as our TPOT; AIPerf calls it ITL',
          'linear',
          'left out; `adj_*` count an error as endless',
        ],
        [
          'GuideLLM',
          'the first non-empty content, reasoning or tool call, as ours',
          foreignMeasures.spread_tpot_us.says,
          'step function of the CDF',
          'left out',
        ],
        [
          'vLLM bench serve',
          foreignMeasures.event_ttft_us.says,
          foreignMeasures.tail_tpot_us.says,
          'linear',
          'left out',
        ],
        [
          'evalscope perf',
          foreignMeasures.event_ttft_us.says,
          foreignMeasures.tail_tpot_us.says,
          '`data[int(n*p/100)]`',
          'left out',
        ],
        [
          'k6',
          'none: `http_req_waiting` is the first byte of the response',
          'none',
          'linear',
          '`http_req_duration` holds them, fast errors too; a threshold without samples passes',
        ],
      ],
    ),
  ].join('\n\n')}\n`
}

function row(name: string, { title, says, who, cut, whoIsCut }: Measure): readonly string[] {
  return [title, `\`${name}\``, says, who, cut === null ? 'no one' : whoIsCut]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n')
}
