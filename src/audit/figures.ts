/** What rules measure, as a person reads it, and how a value of it is shown. */
export const measured = {
  input_tokens: { title: 'input per token', shown: 'ratio' },
  tokens_of_word: { title: 'tokens per common word', shown: 'ratio' },
  beside_text: { title: 'tokens beside the text', shown: 'count' },
  output_tokens: { title: 'output per token', shown: 'ratio' },
  text_price: { title: 'a million of text', shown: 'amount' },
  answer_price: { title: 'a million of answers', shown: 'amount' },
  too_many: { title: 'tokens too many in these runs', shown: 'count' },
  paid_too_much: { title: 'paid too much in these runs', shown: 'amount' },
  codes_found: { title: 'codes found in a full window', shown: 'share' },
  repeats_faster: { title: 'repeated prompts begin faster by', shown: 'ratio' },
  e_value: { title: 'e-value of a change (100 alarms)', shown: 'number' },
  apart: { title: 'distance from the reference', shown: 'ratio' },
  apart_under_load: { title: 'distance from answers at rest', shown: 'ratio' },
  calls_that_fit: { title: 'tool calls that fit their schema', shown: 'share' },
  tier_time: { title: "share of default's time", shown: 'ratio' },
  reasoning: { title: "reasoning, of the reference's", shown: 'ratio' },
} as const satisfies Readonly<Record<string, { readonly title: string; readonly shown: ShownAs }>>

/** A ratio has three decimals, a share is one of all, an amount has its unit, and a number three digits. */
export type ShownAs = 'ratio' | 'count' | 'share' | 'amount' | 'number'

export type MeasuredName = keyof typeof measured
export const measuredNames = Object.keys(measured) as [MeasuredName, ...MeasuredName[]]
