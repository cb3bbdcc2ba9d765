import { gunzipSync } from 'node:zlib'
import { type MetricSample, NotAnExposition, readExposition } from './exposition.ts'

/** More than any known exporter sends. */
const mostBytes = 64e6

export interface Fetched {
  readonly samples: readonly MetricSample[]
  readonly bytes: number
}

/**
 * Reads the metrics of one address, on a connection of its own that is closed after it.
 *
 * @param key sent as a bearer token; null for none
 * @throws Error with a short reason: a status, a timeout, a text that is no exposition
 */
export async function fetchExposition(
  url: string,
  key: string | null,
  timeoutMs: number,
): Promise<Fetched> {
  const { status, location, body } = await get(url, key, timeoutMs)
  const next = location === null ? null : new URL(location, url)
  // LiteLLM sends from /metrics to /metrics/. Another address would get a key that it may not have.
  if (status >= 300 && status < 400 && next?.origin === new URL(url).origin) {
    const again = await get(next.href, key, timeoutMs)
    return exposed(again)
  }
  return exposed({ status, body })
}

function exposed({ status, body }: { readonly status: number; readonly body: Buffer }): Fetched {
  if (status !== 200) throw new Error(`status ${status}`)
  const text = (body[0] === 0x1f && body[1] === 0x8b ? gunzipped(body) : body).toString('utf8')
  return { samples: readExposition(text), bytes: body.length }
}

function gunzipped(body: Buffer): Buffer {
  try {
    return gunzipSync(body, { maxOutputLength: mostBytes })
  } catch {
    throw new NotAnExposition('its gzip is cut off or too large')
  }
}

interface Got {
  readonly status: number
  readonly location: string | null
  readonly body: Buffer
}

async function get(url: string, key: string | null, timeoutMs: number): Promise<Got> {
  // Loaded here: node:http costs 55 ms of CPU, and most runs read no metrics.
  const { request: open } = url.startsWith('https:')
    ? await import('node:https')
    : await import('node:http')
  return new Promise((resolve, reject) => {
    const request = open(
      url,
      {
        agent: false,
        headers: {
          accept: 'text/plain;version=0.0.4, application/openmetrics-text;q=0.5',
          'accept-encoding': 'gzip',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        },
      },
      (response) => {
        const pieces: Buffer[] = []
        let bytes = 0
        response.on('data', (piece: Buffer) => {
          bytes += piece.length
          if (bytes > mostBytes) request.destroy(new Error(`more than ${mostBytes / 1e6} MB`))
          else pieces.push(piece)
        })
        response.on('end', () => {
          clearTimeout(timer)
          const { statusCode = 0, headers } = response
          resolve({
            status: statusCode,
            location: headers.location ?? null,
            body: Buffer.concat(pieces),
          })
        })
        response.on('aborted', () => request.destroy(new Error('the answer was cut off')))
      },
    )
    const timer = setTimeout(
      () => request.destroy(new Error(`no answer in ${timeoutMs} ms`)),
      timeoutMs,
    )
    request.on('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    request.end()
  })
}
