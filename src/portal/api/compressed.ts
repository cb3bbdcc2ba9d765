import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { KeptAnswer } from './kept-answers.ts'

const packed = promisify(gzip)
/** Less than this is one packet in any case. */
const leastBytes = 1400

/** Each answer is compressed once, as it is made once. */
const known = new WeakMap<KeptAnswer, Promise<Uint8Array<ArrayBuffer>>>()

/** An answer with gzip for those who take it; as it is if it is short, or packed already. */
export async function compressed(
  answer: KeptAnswer,
  accepted: string | undefined,
): Promise<KeptAnswer> {
  const { body, headers } = answer
  const isText = /^text\/|json/.test(headers['content-type'] ?? '')
  if (!isText || body.length < leastBytes || !takesGzip(accepted)) return answer
  const bytes = known.get(answer) ?? packed(body)
  known.set(answer, bytes)
  return { body: await bytes, headers: { ...headers, 'content-encoding': 'gzip' } }
}

/** Whether the field Accept-Encoding has gzip, and not as refused. */
const takesGzip = (accepted = '') =>
  accepted.split(',').some((each) => {
    const [name, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((part) => part.startsWith('q='))
    return name === 'gzip' && (quality === undefined || Number(quality.slice(2)) > 0)
  })
