import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig } from 'vitepress'

/** The site of `docs/`: `npm run site` builds it into `site/dist`, and fails at a link that leads nowhere. */
const docs = resolve(import.meta.dirname, '../../docs')

/** What the repository holds beside `docs/`, as links name it. */
const besideDocs = new Set(
  readdirSync(resolve(docs, '..')).map((name) => name.replace(/\.md$/, '')),
)

/** A page's first heading. */
const titleOf = (file: string) => /^# (.+)$/m.exec(readFileSync(join(docs, file), 'utf8'))![1]!

const items = (...names: readonly string[]) =>
  names.map((name) => ({ text: titleOf(`${name}.md`), link: `/${name}` }))

const decisions = readdirSync(join(docs, 'decisions')).map(
  (file) => `decisions/${file.replace('.md', '')}`,
)
const guides = [
  ...['before-launch', 'audit-billing', 'usage-page', 'thresholds-in-ci', 'your-service'],
  ...['replay-a-trace', 'reproduce-a-finding'],
].map((name) => `guides/${name}`)

export default defineConfig({
  title: 'Assay',
  description: 'Load-tests, audits and reports on credit-billed text-generation APIs',
  srcDir: 'docs',
  outDir: 'dist',
  cleanUrls: true,
  // The documents link to files of the repository, which the site does not hold; test/docs.test.ts checks them.
  ignoreDeadLinks: [
    (link: string) => besideDocs.has(/^(?:\.{1,2}\/)+([^/]+)/.exec(link)?.[1] ?? ''),
  ],
  // What looks like markup in the documents is text; the comments of generated pages are dropped.
  markdown: {
    html: false,
    config: (md) =>
      md.core.ruler.before('normalize', 'no-comments', (state) => {
        state.src = state.src.replace(/^<!--.*-->$/gm, '')
      }),
  },
  // `docs` is a link to ../docs, so that pages find Vue in this folder.
  vite: { resolve: { preserveSymlinks: true } },
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Rules', link: '/rules' },
    ],
    sidebar: [
      { text: 'Begin', items: items('tutorial') },
      { text: 'How to', items: items(...guides, 'recipes') },
      {
        text: 'Reference',
        items: items(
          ...['commands', 'scenarios', 'metrics', 'rules', 'tables', 'errors', 'glossary'],
          ...['service', 'service-money', 'service-pages', 'dependencies'],
        ),
      },
      {
        text: 'Explanation',
        items: items(
          ...['running', 'auditing', 'probing', 'usage', 'importing', 'reports', 'comparing'],
          ...['architecture', 'reliability', 'peers', 'features'],
        ),
      },
      { text: 'Decisions', collapsed: true, items: items(...decisions) },
    ],
  },
})
