import { jsonEscape, visible } from './hostile.ts'

/**
 * Markup that is always escaped: the text of a template is markup, and a value in it is data unless it
 * is itself an `Html`.
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

/** Text of our own that is markup already: drawings, style sheets, scripts. */
export const trusted = (text: string): Html => new Html(text)

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === undefined || part === false) return ''
  if (typeof part === 'object') return part.map(markup).join('')
  return visible(String(part)).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** JSON for a script element, which it can neither end nor start. */
export const scriptJson = (value: unknown): Html =>
  new Html(JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, jsonEscape))
