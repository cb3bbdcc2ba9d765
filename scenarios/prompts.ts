import { defineScenario } from '../src/scenario/define.ts'

const trades = ['assayer', 'goldsmith', 'minter', 'refiner']

/** A scenario in TypeScript: prompts by a function, seeded by the index of the request. */
export default defineScenario({
  name: 'prompts',
  question: 'Does the length of a prompt that is never the same twice change the first token?',
  model: 'svc-k2',
  steps: {
    short: {
      endpoint: 'chat',
      stream: true,
      max_tokens: 24,
      prompt: ({ index, random }) =>
        `Request ${index}: what did a ${trades[Math.floor(random() * trades.length)]} do?`,
    },
    long: {
      endpoint: 'chat',
      stream: true,
      max_tokens: 24,
      prompt: ({ index, random }) => {
        const lines = Array.from({ length: 200 }, (_, at) => `${at}: ${random().toFixed(6)}`)
        return `Sum up table ${index}:\n${lines.join('\n')}`
      },
    },
  },
  phases: [{ name: 'steady', load: 'poisson', rate: '10/s', duration: '5s' }],
  thresholds: ['short.ttft.p50 < 2s', 'long.ttft.p50 < 2s'],
})
