import { readFileSync } from 'node:fs'

/** A page as `docs/index.md` lists it: the text of its link, and its path below `docs/` without `.md`. */
type ListedPage = { readonly text: string; readonly path: string }

/** A heading of the list of all documents, with its pages. */
type Section = { readonly heading: string; readonly pages: readonly ListedPage[] }

/** The sections of `docs/index.md`, the one list of all documents. */
export function sectionsOf(indexFile: string): readonly Section[] {
  const [, ...sections] = readFileSync(indexFile, 'utf8').split(/^### /m)
  return sections.map((section) => ({
    heading: section.slice(0, section.indexOf('\n')),
    pages: [...section.matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm)].map(([, text, path]) => ({
      text: text!,
      path: path!,
    })),
  }))
}
