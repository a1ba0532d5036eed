import type { Card } from '../reading/blocks.ts'

/** A separate module from the news, which guides do not load. */
export const guides = {
  lightSwitch: {
    id: 'light-switch',
    title: 'A light switch of your own',
    snippet: 'Wire a pushbutton and an LED to a microcontroller, and let your program decide when it shines.',
    link: '/guides/light-switch',
    category: 'Guide',
    picture: 'led-and-button',
  },
  motor: {
    id: 'motor-guide',
    title: 'Drive a motor, both ways and at any speed',
    snippet: 'A motor driver, a battery and three pins: forward, backward, slow, fast and stop.',
    link: '/guides/motor-guide',
    category: 'Guide',
    picture: 'gear-motor',
  },
  servo: {
    id: 'servo-guide',
    title: 'Turn a servo to the angle you want',
    snippet: 'Fixed angles, a smooth sweep, and an arm that goes where you type.',
    link: '/guides/servo-guide',
    category: 'Guide',
    picture: 'servo-arm',
  },
} as const satisfies Record<string, Card>

export const guideCards: readonly Card[] = Object.values(guides)
