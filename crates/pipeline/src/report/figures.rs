//! Figures beside the page.

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::file::write_atomically;
use padir_plot::{Axis, Corner, Figure, Panel, Series};

use super::ReportError;
use super::chapter::Chapter;
use super::curves::{Curve, curves, levels};
use super::groups::groups;
use crate::Error;

/// What a figure is written as.
const FORMS: [&str; 3] = ["svg", "png", "csv"];

fn learning(chapter: &Chapter) -> String {
    format!("{}-learning", chapter.name)
}

fn steps(chapter: &Chapter) -> String {
    format!("{}-steps", chapter.name)
}

/// The directory of figures.
pub(super) struct Gallery {
    directory: PathBuf,
    /// What the page calls it.
    link: String,
}

impl Gallery {
    /// A directory called like the page.
    pub(super) fn beside(page: &Path) -> Result<Self, Error> {
        let directory = page.with_extension("");
        let link = directory.file_name().map(|name| name.to_string_lossy().into_owned());
        fs::create_dir_all(&directory).map_err(Error::making(&directory))?;
        Ok(Self { directory, link: link.unwrap_or_default() })
    }

    /// All files that may be drawn for a page.
    pub(super) fn files(page: &Path, chapters: &[Chapter]) -> Vec<PathBuf> {
        let directory = page.with_extension("");
        let names = chapters.iter().flat_map(|chapter| [learning(chapter), steps(chapter)]);
        let forms = |name: String| {
            FORMS.map(|form| directory.join(&name).with_added_extension(form)).into_iter()
        };
        names.flat_map(forms).collect()
    }

    /// How the dev scores of trainings rose; none if nothing was watched.
    pub(super) fn learning(&self, chapter: &Chapter) -> Result<Option<String>, Error> {
        let metric = chapter.trainings.iter().find_map(|training| Some(training.best()?.0));
        let Some(metric) = metric else { return Ok(None) };
        let curve = |training: &super::training::Training| -> Curve {
            let rows = training.summary.rows.iter();
            let points =
                rows.filter_map(|row| Some((row.seconds / 60.0, *row.values.get(&metric)?)));
            (training.name.clone(), points.filter(|(_, y)| y.is_finite()).collect())
        };
        let curves: Vec<Curve> = chapter.trainings.iter().map(curve).collect();
        self.draw(&learning(chapter), "minutes of training", &metric, &curves)
    }

    /// BLEU by the number of steps; none if no model was asked for two.
    pub(super) fn steps(&self, chapter: &Chapter) -> Result<Option<String>, Error> {
        let groups = groups(&chapter.evaluations);
        let mut curves = curves(&groups);
        let levels = levels(&groups, &curves);
        curves.extend(levels);
        self.draw(&steps(chapter), "most steps", "BLEU", &curves)
    }

    /// Draws curves that have two points at least to .svg and .png, with a .csv of the numbers; gives the page's link.
    fn draw(
        &self,
        name: &str,
        x: &str,
        y: &str,
        curves: &[Curve],
    ) -> Result<Option<String>, Error> {
        let curves: Vec<&Curve> = curves.iter().filter(|(_, points)| points.len() > 1).collect();
        if curves.is_empty() {
            return Ok(None);
        }
        let mut panel = Panel::new(Axis::linear(x), Axis::linear(y)).legend(Corner::Outside);
        let mut csv = format!("curve,{x},{y}\n");
        for (name, points) in curves {
            panel = panel.with(Series::line(name.as_str(), points.iter().copied()));
            csv.extend(points.iter().map(|(x, y)| format!("\"{name}\",{x},{y}\n")));
        }
        let scene = Figure::divided(panel).draw();
        let path = self.directory.join(name);
        let png = scene.to_png(2.0).map_err(ReportError::Figure)?;
        let contents = [scene.to_svg().into_bytes(), png, csv.into_bytes()];
        for (form, content) in FORMS.into_iter().zip(contents) {
            write_atomically(path.with_added_extension(form), &content)?;
        }
        Ok(Some(format!("{}/{name}.svg", self.link)))
    }
}
