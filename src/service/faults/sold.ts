import type { Behaviour } from '../behaviour.ts'
import { editChat } from './completion.ts'
import { type Fault, strongFault } from './fault.ts'

/** Counts, and charges, another number of prompt tokens. */
const counting = (
  honest: Behaviour,
  prompt: (tokens: number) => number,
): Pick<Behaviour, 'promptTokens'> => ({
  promptTokens: (call, request) => prompt(honest.promptTokens(call, request)),
})

export const soldFaults: readonly Fault[] = [
  strongFault(
    'token-inflation',
    'SOLD-01',
    'each prompt is counted 1.1 times',
    1.1,
    (honest, _kit, factor) => counting(honest, (tokens) => Math.round(tokens * factor)),
  ),
  strongFault(
    'token-rounding',
    'SOLD-01',
    'prompt tokens are rounded up to multiples of 64',
    64,
    (honest, _kit, step) => counting(honest, (tokens) => Math.ceil(tokens / step) * step),
  ),
  strongFault(
    'hidden-prompt',
    'SOLD-02',
    'a prompt of 30 tokens is put before each, and counted',
    30,
    (honest, _kit, tokens) => counting(honest, (own) => own + tokens),
  ),
  strongFault(
    'output-inflation',
    'SOLD-09',
    'answers are cut, and counted 1.1 times',
    1.1,
    (honest, _kit, factor) => ({
      answer(call) {
        const answer = honest.answer(call)
        const choices = answer.choices.map((choice) => ({
          ...choice,
          pieces: choice.pieces.slice(0, Math.ceil(choice.pieces.length / factor)),
        }))
        return { ...answer, choices }
      },
    }),
  ),
  strongFault(
    'reasoning-inflation',
    'SOLD-10',
    'each answer reports 5 tokens of hidden reasoning for each of its own',
    5,
    (honest, _kit, factor) =>
      editChat(honest, (part) => {
        if (!('usage' in part) || part.usage == null) return part
        const { prompt_tokens, completion_tokens } = part.usage
        const hidden = Math.round(completion_tokens * factor)
        return {
          ...part,
          usage: {
            prompt_tokens,
            completion_tokens: completion_tokens + hidden,
            total_tokens: prompt_tokens + completion_tokens + hidden,
            completion_tokens_details: { reasoning_tokens: hidden },
          },
        }
      }),
  ),
]
