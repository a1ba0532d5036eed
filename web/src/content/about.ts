import type { Content, PlaceCard } from '../reading/blocks.ts'

/** The pages are named by role: no person is named. */
const people: readonly PlaceCard[] = [
  {
    id: 'founder',
    title: 'The founder',
    snippet:
      'Works on small personal robots and on muscles made of magnets and wire, and teaches what comes out of it.',
    action: 'Meet the founder',
    link: '/about/founder-robo-kids-learning',
    picture: 'founder',
  },
  {
    id: 'director',
    title: 'The Director of Educational Services',
    snippet: 'Makes sure each class is one a child can follow, enjoy and be proud of.',
    action: 'Meet the director',
    link: '/about/director-educational-services',
    picture: 'director',
  },
]

export const about: Content = {
  kicker: 'About',
  title: 'Small robots, and the people who build them',
  lead: 'Empowering Kids to Build the Future with Robotic Engineering.',
  picture: 'class-scene',
  sections: [
    {
      id: 'mission',
      title: 'Our mission',
      blocks: [
        'Robots are leaving the factory. The ones we care about are small and personal: they help at home, keep company, carry, reach and learn, and they are gentle enough to live with.',
        'To be gentle, a robot needs better muscles than gears and motors. We work on electromagnetic robotic muscles: coils and magnets that pull and release like a muscle: quick, quiet and soft to the touch.',
        'And someone has to build all this. So we teach: live video robotics classes for children, in small groups of 5 to 10, with kits shipped across the U.S. What our students learn at the kitchen table is what we do at the bench: draw it, build it, see it fail, find out why, and make it better.',
      ],
    },
    {
      id: 'values',
      title: 'What we believe in',
      blocks: [
        {
          kind: 'list',
          items: [
            [{ strong: 'Hands first.' }, ' A child who has wired it understands it.'],
            [{ strong: 'Small groups.' }, ' A coach should know each child’s robot, and each child.'],
            [{ strong: 'Safety and privacy by habit.' }, ' We ask for what a class needs, and for nothing more.'],
            [
              { strong: 'Plain words.' },
              ' You see what a class is, what it costs and what’s in the box before you register.',
            ],
          ],
        },
      ],
    },
    { id: 'people', title: 'Who leads us', blocks: [{ kind: 'cards', cards: people }] },
  ],
  next: [
    { to: '/robokidslanding', text: 'View Classes' },
    { to: '/contact', text: 'Contact Us' },
  ],
}

export const founder: Content = {
  kicker: 'Founder',
  title: 'The founder of Robo Kids Learning',
  lead: 'Leads the engineering, and decides what goes into the box.',
  picture: 'founder',
  accent: 'orange',
  parent: { to: '/about', text: 'About' },
  sections: [
    {
      id: 'work',
      title: 'The work',
      blocks: [
        'The founder’s work is the engineering: small personal robots and the electromagnetic muscles that will move them. The spider robot on our home page is part of it, with its eight legs and all the drawings behind them.',
        'The founder also decides what goes into the kits. Every part has to be safe, worth understanding and able to survive being put in backward at least once.',
      ],
    },
    {
      id: 'why',
      title: 'Why classes for children',
      blocks: [
        'A good question about a robot rarely depends on age. Children ask it sooner, because no one has told them yet that it’s a difficult subject. There is no better reason for classes like ours.',
        [
          'Students who want to go from a robot to a product, and from there to a company, can do so in the ',
          { to: '/innovator', text: 'Innovator Program' },
          '.',
        ],
      ],
    },
    {
      id: 'start',
      title: 'Where to begin',
      blocks: [
        [
          'With one evening and one LED: ',
          { to: '/guides', text: 'the guides' },
          ' are free. When that light comes on and your child asks what’s next, look at ',
          { to: '/robokidslanding', text: 'the classes' },
          '.',
        ],
      ],
    },
  ],
  next: [
    { to: '/robokidslanding', text: 'View Classes' },
    { to: '/guides', text: 'Read the guides' },
    { to: '/about', text: 'Back to About' },
  ],
}

export const director: Content = {
  kicker: 'Director of Educational Services',
  title: 'The Director of Educational Services',
  lead: 'Every class has a plan. The plan begins with the child.',
  picture: 'director',
  accent: 'violet',
  parent: { to: '/about', text: 'About' },
  sections: [
    {
      id: 'work',
      title: 'The work',
      blocks: [
        'The director is responsible for what happens in our classes: what is taught in which week, how a coach explains it, and how a shy child gets a word in. The four levels are built so that each one stands alone and still leads to the next.',
        'The director also prepares the coaches, and keeps the groups at 5 to 10 students, because with more, no one sees what’s on each table.',
      ],
    },
    {
      id: 'principles',
      title: 'How we teach',
      blocks: [
        {
          kind: 'list',
          items: [
            'First the hands, then the name: a child feels what a resistor does before hearing what it is called.',
            'A coach asks one more question before giving an answer.',
            'Each session ends with something that works, however small.',
            'Praise goes to what a child did, not to what a child is.',
          ],
        },
      ],
    },
    {
      id: 'parents',
      title: 'For parents',
      blocks: [
        [
          'Not sure which level fits? The director’s advice is to choose the one your child can be proud of, not the one that sounds best. Look at ',
          { to: '/robokidslanding', text: 'the four levels' },
          ', or ',
          { to: '/contact', text: 'write to us' },
          ' and tell us what your child likes to take apart.',
        ],
      ],
    },
  ],
  next: [
    { to: '/robokidslanding', text: 'View Classes' },
    { to: '/about', text: 'Back to About' },
  ],
}
