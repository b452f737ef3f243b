//! How sure verdicts are: 5,000 corpora each of 20, 100 and 500 sessions of a made population of which the truth is known. How many of the 90 % intervals hold the truth,
//! how wide they are beside the ideal ones, how often a true difference of 5 % is found, and how often a true nought is recommended.
//!
//!     cargo bench --bench verdicts [-- CORPORA]

#[path = "../tests/it/population.rs"]
mod population;

use population::{Population, judge};

fn main() {
    let corpora = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(5_000);
    println!("{corpora} corpora each\n");
    println!(
        "| sessions | drawn | effective number | hold the truth | width / ideal | 5 % found | true nought recommended | and called worse |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let heavy = |difference: f64| Population::new(difference);
    let apart = |difference: f64| Population { project_size: 1.0, project_noise: 0.0, ..Population::new(difference) };
    let rows: [(&str, &dyn Fn(f64) -> Population, usize); 5] = [
        ("by project", &heavy, 20),
        ("by project", &heavy, 100),
        ("by project", &heavy, 500),
        ("apart", &apart, 100),
        ("apart", &apart, 400),
    ];
    for (drawn, of, sessions) in rows {
        let (five, nought) = (judge(&of(-0.05), corpora, sessions, None), judge(&of(0.0), corpora, sessions, None));
        println!(
            "| {sessions} | {drawn} | {:.0} | {:.1} % | {:.2} | {:.1} % | {:.1} % | {:.1} % |",
            five.effective,
            five.coverage * 100.0,
            five.width,
            five.better * 100.0,
            nought.better * 100.0,
            nought.worse * 100.0
        );
    }
}
