import { withoutHostile } from '../../user/hostile.ts'

/**
 * Markup that cannot be forgotten to be escaped: what stands in a template is markup, what is put
 * into it is data, unless it was made by `html` itself.
 */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | null | false | readonly Part[]

export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let text = strings[0]!
  parts.forEach((part, at) => {
    text += markup(part) + strings[at + 1]!
  })
  return new Html(text)
}

function markup(part: Part): string {
  if (part instanceof Html) return part.text
  if (part === null || part === false) return ''
  if (typeof part === 'object') return part.map(markup).join('')
  const text = withoutHostile(String(part), () => '\ufffd', '\t\n')
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
