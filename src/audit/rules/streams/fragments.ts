import { isObject } from '../../../user/json.ts'
import { chatTexts } from '../../evidence/chat-texts.ts'
import type { Exchange } from '../../evidence/exchange.ts'
import { exchangesRule } from '../exchange-rule.ts'

export const sse05 = exchangesRule({
  id: 'SSE-05',
  title: 'The fragments of a stream add up to the text of the plain answer',
  section: '§6.2',
  severity: 'derived',
  needs: ['active'],
  explain: `Compares a stream with plain answers to the same request at temperature 0. At least
two plain answers must exist, all alike, and none that its limit cut. Even then a model may differ once, so a difference
counts only if a piece is lost or repeated, if characters are broken, or if at least three streams
all have the same other text.`,
  expected: 'the same text, streamed or not',
  requires: 'a stream and two like plain answers to the same request, temperature 0',
  judgeOf(exchanges) {
    const all = exchanges.filter(isRepeatable)
    const [plain, streamed] = [plainChatText, streamedChatText].map((textOf) =>
      textsBy(all, textOf),
    )
    return (exchange) => {
      const text = isRepeatable(exchange) ? streamedChatText(exchange) : undefined
      if (text === undefined) return undefined
      const request = requestOf(exchange)
      const told = plain!.get(request) ?? []
      const [whole] = told
      if (told.length < 2 || told.some((each) => each !== whole)) return undefined
      if (text === whole) return null
      const others = streamed!.get(request)!
      const always = others.length >= 3 && others.every((each) => each === text)
      return always || isDamaged(whole!, text) ? difference(whole!, text) : undefined
    }
  },
})

function isRepeatable(exchange: Exchange): boolean {
  const { endpoint, finishReason } = exchange.row
  return (
    endpoint === 'chat' &&
    exchange.isOk &&
    finishReason !== 'length' &&
    exchange.requestField('temperature') === 0
  )
}

function textsBy(
  exchanges: readonly Exchange[],
  textOf: (exchange: Exchange) => string | undefined,
): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, string[]>()
  for (const exchange of exchanges) {
    const text = textOf(exchange)
    if (text === undefined) continue
    const request = requestOf(exchange)
    texts.set(request, [...(texts.get(request) ?? []), text])
  }
  return texts
}

/** Whether a text equals another with one piece lost or repeated, or with broken characters. */
function isDamaged(whole: string, text: string): boolean {
  if (text.includes('\ufffd') && !whole.includes('\ufffd')) return true
  const shorter = Math.min(whole.length, text.length)
  const start = alikeFor(whole, text)
  const end = alikeFor([...whole].reverse().join(''), [...text].reverse().join(''))
  if (start + end < shorter || text === '') return false
  return text.length < whole.length || isRepeated(whole, text, whole.length - end, start)
}

/** Whether what a longer text has more, from one of these places on, stands beside it, too: another word is no repeated piece. */
function isRepeated(whole: string, text: string, first: number, last: number): boolean {
  const length = text.length - whole.length
  for (let at = Math.max(0, first); at <= last; at++) {
    const more = text.slice(at, at + length)
    if (whole.slice(0, at).endsWith(more) || whole.slice(at).startsWith(more)) return true
  }
  return false
}

/** Length of the common prefix of two texts. */
function alikeFor(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

/** The request without its mode of delivery. */
function requestOf(exchange: Exchange): string {
  const asked = exchange.requestJson
  if (!isObject(asked)) return ''
  const { stream, stream_options, ...rest } = asked
  return JSON.stringify(rest)
}

const plainChatText = (exchange: Exchange): string | undefined =>
  exchange.isStream ? undefined : chatTexts(exchange)?.get(0)

function streamedChatText(exchange: Exchange): string | undefined {
  const texts = exchange.isStream ? chatTexts(exchange) : undefined
  return texts === undefined ? undefined : (texts.get(0) ?? '')
}

const difference = (plain: string, streamed: string): string =>
  `${streamed.length} characters for ${plain.length}, different from ${alikeFor(plain, streamed)} on`
