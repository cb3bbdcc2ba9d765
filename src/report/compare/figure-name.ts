import type { Difference } from './differences.ts'

const titles: Readonly<Record<Difference['metric'], string>> = {
  service: 'service',
  response: 'response',
  ttft: 'TTFT',
  tpot: 'TPOT',
  throughput: 'ok/s',
  errors: 'errors',
  tokens: 'output tokens/s',
  credits: 'credits each',
}

/** `response p95`; a figure with one statistic needs only its metric. */
export function nameOf({ metric, statistic }: Difference): string {
  return ['rate', 'share', 'each'].includes(statistic)
    ? titles[metric]
    : `${titles[metric]} ${statistic}`
}
