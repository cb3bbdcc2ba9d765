import { jsonEscape, visible } from './hostile.ts'

/**
 * Markup that cannot be forgotten to be escaped: what stands in a template is markup, what is put
 * into it is data, unless it is itself made by `html`.
 */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | undefined | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!
  parts.forEach((part, at) => {
    text += markup(part) + strings[at + 1]!
  })
  return new Html(text)
}

/** Text that is markup already: drawings, style sheets, scripts of ours. */
export const trusted = (text: string): Html => new Html(text)

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(markup).join('')
  return visible(String(part)).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** JSON inside a script element: nothing in it can end the element or start another. */
export function scriptJson(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, jsonEscape))
}
