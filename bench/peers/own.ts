import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Figures, type Times, timesOf } from './figures.ts'
import { file, type Peer, parsed } from './peer.ts'
import { bodyOf, connections, outputTokensOf, prompt, type Work } from './works.ts'

/** `assay run` of a checkout: the scenario says what the others take as flags. */
const assay = fileURLToPath(new URL('../../src/cli/assay.js', import.meta.url))

/** Sockets without a tool. */
const sockets = fileURLToPath(new URL('./sockets.ts', import.meta.url))

export const apiKey = 'a-key-as-long-as-those-of-services-that-are-sold'

/** The work as a scenario. */
export const scenarioOf = (work: Work): string => `name: peers
question: How does this tool do the work that its peers do?
model: m
steps:
  chat: { endpoint: chat, prompt: ${prompt}, max_tokens: ${outputTokensOf(work)}${
    work.stream ? ', stream: true, include_usage: true' : ''
  } }
phases:
  - { name: load, duration: ${work.seconds}s, ${
    work.ratePerS === null
      ? `load: saturate, connections: ${connections}`
      : `load: constant, rate: ${work.ratePerS}/s`
  } }
`

/** Assay, and the floor of the platform that it stands on. */
export const own: readonly Peer[] = [
  {
    name: 'assay',
    from: { registry: 'here', program: assay },
    works: ['chat', 'streams', 'open', 'stall', 'start'],
    version: [process.execPath, assay, '--version'],
    play(task) {
      const scenario = file(task, 'load.yaml', scenarioOf(task.work))
      const store = ['--db', join(task.home, 'assay.duckdb')]
      return {
        command: [
          process.execPath,
          assay,
          'run',
          scenario,
          '--base-url',
          task.baseUrl,
          ...store,
          '--json',
        ],
        env: { ASSAY_API_KEY: apiKey },
        read(stdout) {
          const { summary, verdict } = parsed<{
            verdict: { verdict: string }
            summary: {
              all: {
                counts: { ok: number }
                metrics: Record<string, Record<string, { us: number }>>
              }
            }
          }>(stdout)
          const times = (name: string): Times => {
            const all = summary.all.metrics[name]
            return timesOf(
              { p50: all?.p50?.us, p95: all?.p95?.us, p99: all?.p99?.us },
              ['p50', 'p95', 'p99'],
              0.001,
            )
          }
          const own = { done: summary.all.counts.ok, verdict: verdict.verdict }
          // Without a plan the peers measure from the send, too.
          const response = times(task.work.ratePerS === null ? 'service' : 'response')
          return { ...own, response, ttft: times('ttft'), itl: times('itl') }
        },
      }
    },
  },
  {
    name: 'node-sockets',
    from: { registry: 'here', program: sockets },
    works: ['chat', 'streams', 'open', 'stall'],
    version: [process.execPath, '--version'],
    play({ baseUrl, work }) {
      const { ratePerS, seconds } = work
      const asked = JSON.stringify({ ratePerS, seconds, connections, body: bodyOf(work) })
      return {
        command: [process.execPath, sockets, new URL(baseUrl).port, asked],
        read: (stdout) => parsed<Figures>(stdout),
      }
    },
  },
]
