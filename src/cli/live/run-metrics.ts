import type { Progress } from '../../run/count/progress.ts'
import type { Counted } from '../../run/count/tally.ts'
import type { Metric } from '../../run/crew/messages.ts'
import { family, histogram } from './prometheus.ts'

const times: readonly (readonly [name: string, help: string, ok: Metric, failed: Metric | null])[] =
  [
    ['assay_response_seconds', 'From due to the end.', 'response', 'failed_response'],
    ['assay_service_seconds', 'From sent to the end.', 'service', 'failed_service'],
    ['assay_time_to_first_token_seconds', 'From sent to the first token.', 'ttft', null],
    ['assay_inter_token_latency_seconds', 'Between two events with tokens.', 'itl', null],
  ]

/** A sample for each item with a known value. */
const samples = <Item>(
  items: readonly Item[],
  labelsOf: (item: Item) => Readonly<Record<string, string>>,
  figureOf: (item: Item) => number | null,
) =>
  items.flatMap((item) => {
    const value = figureOf(item)
    return value === null ? [] : [[labelsOf(item), value] as const]
  })

/** The progress of a run as Prometheus text; keys have their names in the scenario. */
export function runMetrics(progress: Progress, counted: Counted): string {
  const { counts, steps, keys, health, money, creditsSpent } = progress
  const ofSteps = (name: 'planned' | 'sent' | 'failures' | 'plannedPerS') =>
    samples(
      steps,
      ({ step }) => ({ step }),
      (step) => step[name],
    )
  const ofKeys = (name: 'creditsRemaining' | 'rateRemaining') =>
    samples(
      keys,
      (key) => ({ key: key.name }),
      (key) => key[name],
    )
  const ofThreads = (figureOf: (thread: Progress['health'][number]) => number | null) =>
    samples(health, ({ shard }) => ({ thread: String(shard) }), figureOf)
  const { ok, httpError: http_error, broken, timeout, aborted, notSent: not_sent } = counts
  const outcomes = Object.entries({ ok, http_error, broken, timeout, aborted, not_sent })
  const { runId: run, scenario } = progress
  return [
    family('assay_run_info', 'The run.', [[{ run, scenario, phase: progress.phase ?? '' }, 1]]),
    family('assay_run_seconds', 'Since the run began.', [[{}, progress.atUs / 1e6]]),
    family('assay_requests_planned_total', 'Requests that were due.', ofSteps('planned')),
    family('assay_requests_sent_total', 'Requests that were sent.', ofSteps('sent')),
    family('assay_requests_failed_total', 'Unexpected failures.', ofSteps('failures')),
    family(
      'assay_requests_ended_total',
      'Requests by how they ended.',
      outcomes.map(([outcome, count]) => [{ outcome }, count] as const),
    ),
    family(
      'assay_errors_total',
      'Failures and expected errors by code.',
      progress.errors.map(([code, count]) => [{ code }, count] as const),
    ),
    family('assay_requests_in_flight', 'Sent and not ended.', [[{}, progress.inFlight]]),
    family(
      'assay_requests_planned_per_second',
      'Requests per second that the plan requires now.',
      ofSteps('plannedPerS'),
    ),
    ...(creditsSpent === null
      ? []
      : [family('assay_credits_spent_total', 'Credits by the contract.', [[{}, creditsSpent]])]),
    ...(money === null
      ? []
      : [
          family('assay_cost_total', 'Money by the contract, rounded to a double.', [
            [{ currency: money.unit }, Number(money.spent)],
          ]),
          family('assay_cost_unknown_total', 'Requests whose cost is not known.', [
            [{}, money.unknown],
          ]),
        ]),
    family(
      'assay_credits_remaining',
      'Latest balance from the service.',
      ofKeys('creditsRemaining'),
    ),
    family(
      'assay_rate_limit_remaining',
      'Latest rate limit from the service.',
      ofKeys('rateRemaining'),
    ),
    family(
      'assay_sender_lag_p99_seconds',
      'How late a thread sent in its last second.',
      ofThreads(({ lagP99Us }) => lagP99Us && lagP99Us / 1e6),
    ),
    family(
      'assay_sender_busy_ratio',
      'Share of its last second that a thread worked.',
      ofThreads(({ utilisation }) => utilisation),
    ),
    ...times.map(([name, help, ok, failed]) =>
      histogram(name, help, [
        ...[...counted.histogramsOfSteps(ok)].map(
          ([step, counts]) => [{ step, outcome: 'ok' }, counts] as const,
        ),
        ...[...(failed === null ? [] : counted.histogramsOfSteps(failed))].map(
          ([step, counts]) => [{ step, outcome: 'failed' }, counts] as const,
        ),
      ]),
    ),
  ].join('')
}
