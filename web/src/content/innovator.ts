import type { Content } from '../reading/blocks.ts'

export const innovator: Content = {
  kicker: 'Innovator Program · Pilot 2025',
  title: 'From an idea to a company',
  lead: 'A mentorship for older students who want not only to build a robot, but to start something with it. In 2025 it runs as a pilot, with a few students and a lot of time for each.',
  picture: 'innovator-scene',
  accent: 'orange',
  sections: [
    {
      id: 'phases',
      title: 'Five phases',
      blocks: [
        'Each phase ends with something to show: on paper, on the table or in numbers.',
        {
          kind: 'phases',
          items: [
            {
              title: 'Ideation and planning',
              text: 'Find a problem that is worth solving, and say in one sentence for whom.',
              points: [
                'Sketches and a first parts list',
                'Conversations with people who have the problem',
                'A plan with dates',
              ],
            },
            {
              title: 'Prototyping and testing',
              text: 'Build the smallest thing that can fail, let it fail, and learn from it.',
              points: ['A prototype on the table', 'Tests, written down', 'A better second one'],
            },
            {
              title: 'Product development',
              text: 'Turn what works once into something that works every time, in anyone’s hands.',
              points: [
                'Drawings that someone else can build from',
                'Safe and sturdy parts',
                'Instructions that a stranger understands',
              ],
            },
            {
              title: 'Business strategy',
              text: 'Who would want it, what would they pay, and how would they hear about it?',
              points: ['A price, with reasons', 'A name and a story', 'A five-minute pitch'],
            },
            {
              title: 'Finance and operations',
              text: 'What it costs to make ten, a hundred, a thousand, and what has to happen every day.',
              points: ['A budget that adds up', 'A path from order to doorstep', 'A plan for the first year'],
            },
          ],
        },
      ],
    },
    {
      id: 'who',
      title: 'Who it is for',
      blocks: [
        'Students who have built robots before, in our Level 3 or anywhere else, and have an idea they can’t put down. A mentor meets them live on a video call, and expects them to disagree now and then.',
        {
          kind: 'note',
          title: 'There is no sign-up yet',
          text: 'The pilot is small. If you know a student it would be right for, have a parent or guardian write to us about the idea. We answer every message.',
        },
      ],
    },
    {
      id: 'spider',
      title: 'An example: the spider robot',
      blocks: [
        {
          kind: 'picture',
          of: 'spider',
          caption: 'Eight legs, sixteen joints, and all five phases behind it.',
        },
        'Our spider robot took this path: a sketch, a cardboard leg, eight legs that got in each other’s way, and finally a robot that crosses a carpet. It’s our answer when a student asks whether it’s normal that nothing works yet.',
      ],
    },
  ],
  next: [{ to: '/contact', text: 'Contact Us' }],
}
