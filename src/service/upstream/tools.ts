import type { Behaviour } from '../behaviour.ts'

/**
 * Tools of the messages format are no parameter of the specification (§4.3), and there is no
 * translation for them here: refused as a request that is not valid, rather than left out of the
 * question without a word and charged. Those of chat go upstream as they came.
 */
export function withoutTools(honest: Pick<Behaviour, 'fits'>): Pick<Behaviour, 'fits'> {
  return {
    fits(call) {
      const asked = call.endpoint === 'messages' ? toolsIn(call.body) : null
      if (asked === null) return honest.fits(call)
      return {
        kind: 'request',
        message: `${asked}: not translated for the upstream; use chat completions for tools`,
      }
    },
  }
}

/** The parameter that asks for tools; null when nothing does. */
function toolsIn(body: Buffer): string | null {
  // Most requests ask for none, and need not be read again to see it.
  if (!body.includes('"tool')) return null
  const { tools, tool_choice: choice } = JSON.parse(body.toString('utf8')) as {
    readonly tools?: unknown
    readonly tool_choice?: unknown
  }
  if (Array.isArray(tools) ? tools.length > 0 : (tools ?? null) !== null) return 'tools'
  return (choice ?? null) === null ? null : 'tool_choice'
}
