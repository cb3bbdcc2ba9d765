import { type Fault, fault } from './fault.ts'

export const chatFaults: readonly Fault[] = [
  fault('total-off-by-one', 'CHAT-08', 'total_tokens is one more than the sum', (honest) => ({
    usage(call, answer) {
      const usage = honest.usage(call, answer)
      return { ...usage, totalTokens: usage.totalTokens + 1 }
    },
  })),
]
