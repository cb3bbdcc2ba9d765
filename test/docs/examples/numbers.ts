import { defineScenario } from 'assay'

export default defineScenario({
  name: 'numbers',
  question: 'Does a new prompt each time change anything?',
  model: 'svc-k2',
  steps: { chat: { endpoint: 'chat', prompt: ({ index }) => `What is special about ${index}?` } },
  phases: [{ name: 'steady', load: 'poisson', rate: '5/s', duration: '10s' }],
})
